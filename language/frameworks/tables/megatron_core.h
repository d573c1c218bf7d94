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

/// Instances of the distributed optimizer ("@instances"): each is shared by an equal part of the ranks that hold the
/// same parameters, data ranks times context ranks, which is data_parallel.shard_group. Spelled before
/// spell_megatron_core, read after read_megatron_core. Throws InputError: the GPUs are not known, or do not divide.
void spell_instances(Words& words);
void read_instances(Words& words);

/// Gradients are kept in the type that they are summed in, `gradients`: takes the scenario's word for it away where it
/// says the same.
void take_kept_as_summed(Words& words, std::string_view gradients);

/// Keys of a configuration's `model` that are fields of Megatron Core's TransformerConfig, which NeMo and Megatron
/// Bridge take by their names.
std::vector<FlagRow> transformer_config_rows();

/// What of those changes the answer and has no key.
std::vector<RefusedName> transformer_config_refused();

}  // namespace stepcast::language
