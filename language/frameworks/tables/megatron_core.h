#pragma once

#include <string_view>
#include <vector>

#include "language/frameworks/framework.h"
#include "language/frameworks/words.h"

namespace stepcast::language {

/// Turns words of a scenario into those that frameworks on Megatron Core have in common ("@bf16", "@recompute", ...):
/// precision, pipeline, data parallelism, recomputation, the model but for its vocabulary, the optimizer. Throws
/// InputError, in the framework's own names.
void spell_megatron_core(Words& words, const Framework& framework);

/// The other way round. Where nothing is said of the model, neither does it say anything.
void read_megatron_core(Words& words, const Framework& framework);

/// Gradients are kept in the type that they are summed in, `gradients`: takes the scenario's word for it away where it
/// says the same.
void take_kept_as_summed(Words& words, std::string_view gradients);

/// Keys of a configuration's `model` that are fields of Megatron Core's TransformerConfig, which NeMo and Megatron
/// Bridge take by their names.
std::vector<FlagRow> transformer_config_rows();

/// What of those changes the answer and has no key.
std::vector<RefusedName> transformer_config_refused();

}  // namespace stepcast::language
