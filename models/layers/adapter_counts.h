#pragma once

#include "models/layers/operator_kinds.h"
#include "scenario/scenario.h"

namespace stepcast::schedules {

/// How many low-rank adapters (scenario/lora.h) stand beside a linear layer of a transformer's layer, by the kind of
/// its multiply: query_key_value, attention_projection, feed_forward_in, feed_forward_out, experts_in or experts_out;
/// no other has any. Several, where those of gate and up, or of queries, keys and values, are apart.
int adapters(const Scenario& scenario, OperatorKind multiply);

/// Whether what enters one is cast to fp32 and back (Software::fp32_adapters).
bool adapters_in_fp32(const Scenario& scenario);

/// Whether each has an input of its own, behind its dropout or these casts.
bool adapters_have_own_inputs(const Scenario& scenario);

/// Whether those of a first multiply gather their input themselves, of tensor ranks that share the sequence.
/// Transformer Engine hands out what the multiply has gathered, in 16 bits, unless its gathers run part by part
/// (return_layernorm_output_gathered).
bool gathers_for_adapters(const Scenario& scenario);

}  // namespace stepcast::schedules
