#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace stepcast::language {

/// For each layer whether it has experts, by what Megatron-LM's --moe-layer-freq says: a whole number N (layers 0, N,
/// 2N ...), or a list of 0 and 1 as Python evaluates it ("([0]*3+[1]*45)", "[1]*48", "[0, 1, 1]"). Nothing for any
/// other text, and for a list of another length. Source: moe_freq_type() and _eval_pattern() of
/// megatron/training/arguments.py, and get_gpt_decoder_block_spec() of megatron/core/models/gpt/gpt_layer_specs.py,
/// core_v0.14.0.
std::optional<std::vector<bool>> expert_layers(std::string_view text, std::int64_t layers);

}  // namespace stepcast::language
