#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace stepcast::schedules {

/// Linear layers that have an adapter.
struct LoraTargets {
  bool query_key_value = false;  ///< one of the three together
  bool queries = false, keys = false, values = false;
  bool projection = false;       ///< of attention's result
  bool feed_forward_in = false;  ///< one of gate and up together
  bool gate = false, up = false;
  bool feed_forward_out = false;
  bool mixer_in = false, mixer_out = false;  ///< of state-space layers and of linear attention
  friend bool operator==(const LoraTargets&, const LoraTargets&) = default;
};

struct LoraTarget {
  std::string_view name;
  bool LoraTargets::*member;
};

/// As Megatron and as Hugging Face's models name them.
inline constexpr std::array kLoraTargets{LoraTarget{"linear_qkv", &LoraTargets::query_key_value},
                                         LoraTarget{"linear_proj", &LoraTargets::projection},
                                         LoraTarget{"linear_fc1", &LoraTargets::feed_forward_in},
                                         LoraTarget{"linear_fc2", &LoraTargets::feed_forward_out},
                                         LoraTarget{"in_proj", &LoraTargets::mixer_in},
                                         LoraTarget{"out_proj", &LoraTargets::mixer_out},
                                         LoraTarget{"q_proj", &LoraTargets::queries},
                                         LoraTarget{"k_proj", &LoraTargets::keys},
                                         LoraTarget{"v_proj", &LoraTargets::values},
                                         LoraTarget{"o_proj", &LoraTargets::projection},
                                         LoraTarget{"gate_proj", &LoraTargets::gate},
                                         LoraTarget{"up_proj", &LoraTargets::up},
                                         LoraTarget{"down_proj", &LoraTargets::feed_forward_out}};

/// By their names: Hugging Face's, where some have an adapter that Megatron does not have apart, else Megatron's.
inline std::vector<std::string_view> names_of_targets(LoraTargets targets) {
  const bool apart = targets.queries || targets.keys || targets.values || targets.gate || targets.up;
  std::vector<std::string_view> names;
  for (const bool of_megatron : {!apart, apart})
    for (const LoraTarget& target : kLoraTargets)
      if (target.name.starts_with("linear_") == of_megatron && std::exchange(targets.*target.member, false))
        names.push_back(target.name);
  return names;
}

/// How the layers' own weights are kept: as all others are, as the training's low precision casts them, once, or in
/// bitsandbytes' 4 bits, of whose blocks of 64 numbers each has a scale, in fp32 or itself in 8 bits (Dettmers et al.,
/// "QLoRA", arXiv 2305.14314, sec. 3).
enum class BaseWeights : std::uint8_t { as_trained, cast, nf4, nf4_double_quant };
inline constexpr std::array<std::string_view, 4> kBaseWeightsNames = {"as-trained", "cast", "nf4", "nf4-double-quant"};
constexpr std::string_view name(BaseWeights weights) { return kBaseWeightsNames[static_cast<std::size_t>(weights)]; }

/// Bytes that one takes with its share of scales, of what is not kept as all others are: of a block 4 bytes, or 1 and
/// of 256 blocks 4.
constexpr double four_bit_bytes(BaseWeights weights) {
  constexpr double kBlock = 64, kBlocks = 256;
  return 0.5 + (weights == BaseWeights::nf4 ? 4 / kBlock : 1 / kBlock + 4 / (kBlock * kBlocks));
}

/// Low-rank adapters: Hu et al., "LoRA" (arXiv 2106.09685). The model's own weights stay as they are. Beside those of a
/// linear layer stand two narrow ones, A of rank x inputs and B of outputs x rank, and these alone are trained.
struct Lora {
  std::int64_t rank = 0;  ///< 0: there are none, and all weights are trained
  LoraTargets targets{.query_key_value = true, .projection = true, .feed_forward_in = true, .feed_forward_out = true};
  double dropout = 0;  ///< share of an adapter's inputs; what it is does not matter, but whether there is any
  BaseWeights base = BaseWeights::as_trained;
};

}  // namespace stepcast::schedules
