#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "collectives/operation.h"
#include "models/layers/gemm_shape.h"
#include "models/layers/operator_kinds.h"
#include "sim/units.h"

namespace stepcast::schedules {

// One struct for each way to cost a kernel. Beside its sizes each has the `kind` of the operator that it is of, and of
// these what it needs: `kernels` (launches, else one), `of_weights` (it makes a gradient of weights, for which nothing
// before it in the model waits), `model_flops()` (multiplies that the model asks for), `skipped_flops()` (of those, not
// done), `bytes` of memory traffic that fusion saves. The functions at the end of this file ask for them by these
// names.

/// A matrix multiply on one tensor rank.
struct Gemm {
  OperatorKind kind{};
  GemmShape shape;
  bool of_weights = false;
  int kernels = 1;             ///< that share the batch, one after the other: the experts' multiplies are one each
  bool linear = false;         ///< of a transformer's linear layers: neither attention's core nor a router
  bool low_precision = false;  ///< in the training's precision where that is a low one (models/layers/low_precision.h)
  double useful = 1;           ///< share of its multiplies that are for tokens: the rest is padding of experts
  bool scales_rows = false;    ///< of 8 bits, scaling by row what it writes (models/layers/rowwise_scaling.h)
  bool plain_cores = false;    ///< at fp32's rate, though its inputs have fewer bits and matrix units of their own

  double model_flops() const { return shape.flops().value * useful; }
};

/// A convolution, or a gradient of one, as a multiply whose input is read in place: `read` bytes instead of the rows
/// and columns spelled out.
struct Convolution {
  OperatorKind kind{};
  GemmShape shape;
  double read = 0;        ///< bytes of both inputs as they are stored
  bool winograd = false;  ///< 3x3 with stride 1: fewer multiplies exist for it (Software::winograd)
  bool of_weights = false;

  double model_flops() const { return shape.flops().value; }
};

/// Whose kernels scan a sequence chunk by chunk.
enum class ScanKernels : std::uint8_t { mamba, delta_net };

/// The multiplies of many small matrices that a scan makes of a sequence's chunks, in one kernel.
struct ChunkProducts {
  OperatorKind kind{};
  ScanKernels by{};
  Flops flops{};
  double bytes = 0;        ///< read and written
  std::int64_t steps = 1;  ///< that wait for each other
  bool backward = false;
  double useful = 1;  ///< share of its multiplies that the model asks for: backward, those that are not made again

  double model_flops() const { return flops.value * useful; }
};

/// A kernel bound by memory traffic: everything that multiplies no matrices.
struct Elementwise {
  OperatorKind kind{};
  double bytes = 0;  ///< read and written
  int kernels = 1;   ///< launches it takes
  bool of_weights = false;
  bool backward = false;
  bool by_expert = false;   ///< its launches are one or more for each of a rank's experts, as Software::host_per_expert
  bool host_waits = false;  ///< the host reads what it writes before it launches more
};

/// Attention in one kernel (FlashAttention): multiplies at their own rate, the score matrix never in memory. Widths are
/// of a head's keys and values; 0: the kernel's own, which nothing pads.
struct FusedAttention {
  OperatorKind kind = OperatorKind::fused_attention;
  Flops flops{};          ///< of the full square
  double query_rows = 0;  ///< rows of all score matrices: batch x heads x sequence
  bool backward = false;
  int kernels = 1;
  bool causal = true;  ///< what a query may not look at is skipped: half of the square, or all outside its window
  std::int64_t key_width = 0, value_width = 0;
  bool low_precision = false;  ///< its multiplies are in the training's precision, of 8 bits
  double window = 1;           ///< causal: of a sample's tokens, those that a query looks at, its own the last
  bool chunks = false;         ///< of the samples' chunks of so many tokens, it looks at its own up to itself

  /// Share of the square that is looked at: a triangle, a band below the diagonal, or a row of small triangles.
  double seen() const { return !causal ? 1 : chunks ? window / 2 : window * (1 - window / 2); }
  /// As published figures count them: of a triangle all its square, of a band all of its width.
  double model_flops() const { return flops.value * (causal ? window : 1); }
  double skipped_flops() const { return model_flops() - flops.value * seen(); }
};

/// Between which ranks traffic inside a layer runs.
enum class Among : std::uint8_t {
  tensor,         ///< that stand in one row of the tensor grid: all, where it has one
  tensor_column,  ///< in one column
  tensor_depth,   ///< at one place of grids in depth
  kv_copies,      ///< that hold the same head of keys and values
  context,        ///< that share each sequence
  context_ring,   ///< likewise, each to the next
  dispatch,       ///< that share the experts: tokens to their experts, more to those in demand
  combine,        ///< and back
  expert_tensor   ///< that share each expert
};

/// Traffic inside a layer. `under_next`: it may run beside the kernel that follows it in the list.
struct TensorCollective {
  OperatorKind kind{};
  collectives::Operation operation{};
  Bytes bytes{};
  bool under_next = false;
  Among among = Among::tensor;
  bool of_weights = false;  ///< carries gradients of weights
  /// More than 1: it and a multiply go through so many parts of the tokens, one at work on a part while the other is on
  /// the next: an all_gather with the multiply behind it, a reduce_scatter with the one right before.
  int parts = 1;
  bool of_saved_input = false;  ///< backward gathers once more what forward has gathered and let go of
  bool of_uncast = false;       ///< what it gathers is needed in 16 bits, whatever multiplies it
};

using Kernel = std::variant<Gemm, Convolution, ChunkProducts, Elementwise, FusedAttention, TensorCollective>;
using Kernels = std::vector<Kernel>;

OperatorKind kind(const Kernel& kernel);
int launches(const Kernel& kernel);
/// Whether it is of a layer norm or an RMSNorm, whose kernel has whole rows.
bool is_norm(const Kernel& kernel);
bool of_weights(const Kernel& kernel);
/// Whether tensor ranks gather by it what enters a multiply, of which each has a part.
bool gathers_input(const TensorCollective& traffic);
/// Whether it has model_flops(): it multiplies, which its time is mostly for; else it is a kernel of memory traffic.
bool multiplies(const Kernel& kernel);
/// Floating-point operations of its multiplies, as model_flops() of models/layers/blocks.h counts them.
double model_flops(const Kernel& kernel);
double skipped_flops(const Kernel& kernel);

/// A list in two: what makes gradients of inputs, and what makes those of weights, which a pipeline may put off.
/// Traffic that ran beside a gradient of weights no longer does.
struct SplitBackward {
  Kernels inputs, weights;
};
SplitBackward split_backward(const Kernels& backward);

}  // namespace stepcast::schedules
