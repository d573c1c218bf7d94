#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "calibrate/measure/host/step_case.h"

namespace stepcast::measure {

/// How a tensor of parameters begins: uniform random numbers, of the standard deviation of the model; the same over
/// sqrt(2 layers) where it adds to the residual (Radford et al. 2019, GPT-2, section 2.3); all one; all zero.
enum class InitialValues { weight, residual_weight, ones, zeros };

/// One tensor of parameters, or as much of it as a rank holds: rows x columns cut out of the whole, row by row.
struct ParameterPart {
  std::string name;  ///< the same on all ranks: "layer 3 up weight"
  InitialValues start = InitialValues::zeros;
  std::int64_t rows = 0, columns = 0;
  std::int64_t first_row = 0, first_column = 0, whole_columns = 0;  ///< where it lies in the whole tensor
  std::int64_t offset = 0;                                          ///< in the rank's flat memory, in elements
};

/// All parameters of a rank, one behind the other: matrices, then vectors, so that each matrix begins on a multiple of
/// 512 elements, as multiplies want it. The embedding's matrix is first; the last stage has one too, for the head.
struct StepParameters {
  std::vector<ParameterPart> parts;
  std::int64_t elements = 0;
  std::int64_t tied = 0;  ///< elements of the embedding's matrix, at the start; 0: this stage has none
  /// Throws std::logic_error where the rank holds none of that name.
  std::int64_t offset(const std::string& name) const;
};
/// Megatron's split over the tensor ranks (Shoeybi et al. 2019, arXiv 1909.08053, section 3): heads, inner columns and
/// vocabulary are divided; norms, positions and the biases of what is summed are not.
StepParameters step_parameters(const StepCase& step, const StepRank& rank);

/// "layer 3 ": what the names of a layer's parameters begin with.
std::string layer_prefix(int layer);

/// Seed of a tensor's first values: of its name.
std::uint64_t start_seed(const std::string& name);

/// Random tokens of a micro-batch, or what follows each of them; counted over all data ranks: data rank x micro-batches
/// + place in it.
std::vector<std::int32_t> step_tokens(const StepCase& step, std::int64_t micro_batch, bool targets);

/// Seed of a dropout: `half` 0 behind attention, 1 behind the MLP. Every tensor rank draws the same.
std::uint64_t dropout_seed(std::int64_t step, std::int64_t micro_batch, int layer, int half);

}  // namespace stepcast::measure
