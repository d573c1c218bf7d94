#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace stepcast::schedules {

/// How the ranks that share a sequence see each other's keys and values.
enum class ContextMethod : std::uint8_t {
  ring,        ///< passed round while attention runs (Liu et al. 2023, arXiv 2310.01889), causal halves balanced
  all_gather,  ///< gathered first (Llama 3, arXiv 2407.21783, sec. 3.3.2)
  ulysses      ///< exchanged for heads (Jacobs et al. 2023, arXiv 2309.14509)
};

/// How linear layers are split over the tensor ranks (models/layers/multiply_pair.h).
enum class TensorMethod : std::uint8_t {
  megatron,          ///< in pairs: the first one's outputs are shared, the second one takes them as they are
  partition_output,  ///< every one's outputs are shared, and gathered where the next one needs them whole
  reduce_output      ///< every one's inputs are shared, and its partial outputs added up
};

/// Tensor ranks as a grid on which each weight lies, its inputs over the rows and its outputs over the columns, or the
/// other way round in the second multiply of a pair; `depth` such grids share the samples, and each weight once more
/// (Singh et al. 2023, arXiv 2305.13525). Columns are innermost, then rows.
struct TensorGrid {
  std::uint32_t rows = 1, columns = 1, depth = 1;
  friend bool operator==(const TensorGrid&, const TensorGrid&) = default;
};

/// A way to share the work.
enum class Dimension : std::uint8_t { tensor, context, data, pipeline };
inline constexpr std::size_t kDimensions = 4;

struct Parallelism {
  std::uint32_t tensor = 1, pipeline = 1, data = 1;
  bool sequence = false;                          ///< Megatron's sequence parallelism over the tensor ranks
  std::vector<std::uint32_t> layers_per_stage{};  ///< of each model chunk, in the model's order; none: as many each
  std::uint32_t context = 1;                      ///< ranks that share each sequence
  std::uint32_t expert = 1;                       ///< ranks of a stage that share out the experts
  std::uint32_t expert_tensor = 1;                ///< ranks that share each expert: its columns, then its rows
  ContextMethod context_method = ContextMethod::ring;
  std::optional<TensorMethod> tensor_method{};  ///< none: megatron; networks: partition_output
  std::optional<TensorGrid> tensor_grid{};      ///< none: one row
  /// How ranks are numbered: those of the first dimension are neighbours.
  std::array<Dimension, kDimensions> order{Dimension::tensor, Dimension::context, Dimension::data, Dimension::pipeline};
};

inline std::uint32_t size(const Parallelism& plan, Dimension dimension) {
  switch (dimension) {
    case Dimension::tensor:
      return plan.tensor;
    case Dimension::context:
      return plan.context;
    case Dimension::data:
      return plan.data;
    case Dimension::pipeline:
      break;
  }
  return plan.pipeline;
}

inline TensorGrid grid(const Parallelism& plan) {
  return plan.tensor_grid.value_or(TensorGrid{.columns = plan.tensor});
}
/// Whether it is more than one row: tensor parallelism of two or three dimensions.
inline bool is_grid(const TensorGrid& grid) { return grid.rows > 1 || grid.depth > 1; }

/// Ranks of a stage with the same weights, experts apart: they sum their gradients.
inline std::uint32_t weight_copies(const Parallelism& plan) { return plan.data * plan.context; }
/// Ranks of a stage that have all experts together, each once.
inline std::uint32_t expert_ranks(const Parallelism& plan) { return plan.expert * plan.expert_tensor; }
/// Ranks of a stage with the same experts, or the same parts of them.
inline std::uint32_t expert_copies(const Parallelism& plan) {
  return plan.tensor * plan.context * plan.data / expert_ranks(plan);
}

}  // namespace stepcast::schedules
