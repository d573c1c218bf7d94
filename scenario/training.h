#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "scenario/lora.h"
#include "scenario/optimizer.h"
#include "scenario/precision.h"
#include "scenario/software.h"

namespace stepcast::schedules {

/// What backward makes again: nothing, the attention core or named modules, whole layers, or all but the results that
/// checkpointing by operator keeps (models/layers/recompute_by_operator.h).
enum class Recompute : std::uint8_t { none, selective, full, by_operator };
inline constexpr std::array<std::string_view, 4> kRecomputeNames = {"none", "selective", "full", "by-operator"};
constexpr std::string_view name(Recompute recompute) { return kRecomputeNames[static_cast<std::size_t>(recompute)]; }

/// How many tokens an expert gets.
struct ExpertLoad {
  std::optional<double> capacity{};  ///< each gets this times its even share, padded or cut to it; none: dropless
  double spread = 0;                 ///< dropless: standard deviation of the experts' loads over their mean
  std::uint64_t seed = 0;            ///< of the draw
  /// A token's experts lie on at most so many nodes, each of which gets one copy and forwards it inside: DeepSeek-V3
  /// (arXiv 2412.19437), sec. 2.1.2 and 3.2.2. None: its copies travel one by one.
  std::optional<std::uint32_t> node_limit{};
};

/// Scales of an fp8 tensor: one from steps before, one of the tensor itself, or of its rows one each.
enum class Scaling : std::uint8_t { delayed, current, rowwise };
inline constexpr std::array<std::string_view, 3> kScalingNames = {"delayed", "current", "rowwise"};
constexpr std::string_view name(Scaling scaling) { return kScalingNames[static_cast<std::size_t>(scaling)]; }

struct Training {
  std::int64_t global_batch = 0;  ///< samples per step
  std::int64_t micro_batch = 0;   ///< samples per pass and data-parallel rank
  std::int64_t sequence = 2048;   ///< tokens per sample; t5: the encoder's
  Precision precision = Precision::bf16;
  Optimizer optimizer = Optimizer::adam;
  std::optional<Attention> attention{};  ///< none: the software's own
  /// A weight is updated, and its gradient let go of, as soon as backward has made that.
  bool update_in_backward = false;
  std::int64_t frozen_layers = 0;  ///< the first so many layers, and the embedding, are not trained
  Lora lora{};
  std::int64_t document_length = 0;   ///< tokens of the documents in a sample, which attend to themselves; 0: one
  std::int64_t decoder_sequence = 0;  ///< t5: the decoder's tokens per sample
  std::optional<Fusion> fusion{};     ///< of elementwise kernels; none: the software's own
  bool balance = false;               ///< with GPUs of two kinds: data ranks share the batch by speed, else equally
  std::int64_t predictions = 0;       ///< bert: tokens per sample that go through the masked-word head; 0: all
  ExpertLoad expert_load{};
  Scaling scaling = Scaling::delayed;  ///< fp8
  bool eight_bit_parameters = false;   ///< fp8, mxfp8: the model's own parameters have 8 bits, and are gathered so
  /// Low precision: so many of the first and of the last layers keep their linear multiplies in bf16.
  std::int64_t bf16_layers_at_start = 0, bf16_layers_at_end = 0;
};

/// Whether adapters alone are trained.
inline bool trains_adapters(const Training& training) { return training.lora.rank > 0; }
/// Whether the layers' own weights are kept in 4 bits; and bytes of one that is kept as they are.
inline bool keeps_four_bits(const Training& training) {
  return trains_adapters(training) &&
         (training.lora.base == BaseWeights::nf4 || training.lora.base == BaseWeights::nf4_double_quant);
}
/// Whether there are no layers' weights but those that the training's low precision has cast.
inline bool keeps_casts_alone(const Training& training) {
  return training.eight_bit_parameters || (trains_adapters(training) && training.lora.base == BaseWeights::cast);
}
inline double base_weight_bytes(const Training& training) {
  return keeps_four_bits(training) ? four_bit_bytes(training.lora.base)
                                   : static_cast<double>(element_bytes(training.precision));
}
/// Whether the model begins with blocks that have no backward pass.
inline bool begins_frozen(const Training& training) { return training.frozen_layers > 0 || trains_adapters(training); }

}  // namespace stepcast::schedules
