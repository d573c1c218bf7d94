#include "search/layouts/split_kernel.h"

#include <algorithm>
#include <variant>

namespace stepcast::search {

using namespace schedules;

namespace {

void share(std::int64_t& of, std::int64_t ways) { of = std::max<std::int64_t>(1, (of + ways - 1) / ways); }

/// Of each pass: the split of the rows, columns and inner dimension of its multiply.
DimensionSplit as_multiplied(const DimensionSplit& split, bool backward, bool of_weights) {
  if (!backward) return split;
  if (of_weights) return {.rows = split.columns, .columns = split.inner, .inner = split.rows, .batch = split.batch};
  return {.rows = split.rows, .columns = split.inner, .inner = split.columns, .batch = split.batch};
}

void share(GemmShape& shape, const DimensionSplit& split) {
  share(shape.m, split.rows);
  share(shape.n, split.columns);
  share(shape.k, split.inner);
  share(shape.batch, split.batch);
}

/// What is read besides the weight is split as what the multiply reads, or as what it makes.
double read_of(const Convolution& kernel, bool backward, const DimensionSplit& split, double weight_bytes) {
  const double in = static_cast<double>(split.rows * split.inner * split.batch),
               out = static_cast<double>(split.rows * split.columns * split.batch),
               weight = static_cast<double>(split.columns * split.inner * split.batch);
  if (!backward) return (kernel.read - weight_bytes) / in + weight_bytes / weight;
  if (!kernel.of_weights) return (kernel.read - weight_bytes) / out + weight_bytes / weight;
  return kernel.read / std::min(in, out);  // of both; the one that is split less counts for all
}

/// A kernel of a multiply with a weight, split along the dimensions of that multiply. Each kernel has an overload: a
/// new one does not compile before somebody says how it is split.
struct SplitOfMultiply {
  bool backward;
  const DimensionSplit& split;
  double weight_bytes;

  void operator()(Gemm& gemm) const {
    share(gemm.shape, as_multiplied(split, backward, gemm.of_weights));
    if (gemm.kernels > 1) gemm.kernels = std::max(1, gemm.kernels / static_cast<int>(split.batch));
  }
  void operator()(Convolution& convolution) const {
    convolution.read = read_of(convolution, backward, split, weight_bytes);
    share(convolution.shape, as_multiplied(split, backward, convolution.of_weights));
  }
  void operator()(Elementwise& elementwise) const {
    const std::int64_t ways = elementwise.of_weights ? split.columns * split.inner : split.rows * split.columns;
    elementwise.bytes /= static_cast<double>(ways * split.batch);
  }
  void operator()(ChunkProducts&) const {}     // nor has this: layouts are of models without scans
  void operator()(FusedAttention&) const {}    // has no weight, so it is of no such multiply
  void operator()(TensorCollective&) const {}  // the model is unsplit: nothing is exchanged inside a layer
};

/// A kernel that some devices share evenly, by overload likewise.
struct EvenSplit {
  std::int64_t ways;

  void operator()(Gemm& gemm) const {
    // Attention's multiplies are many in a kernel; a router's is one, of rows or, as a gradient, over them.
    if (gemm.shape.batch > 1)
      share(gemm.shape.batch, ways);
    else
      share(gemm.of_weights ? gemm.shape.k : gemm.shape.m, ways);
  }
  void operator()(Convolution&) const {}    // has a weight: of_multiply() splits it
  void operator()(ChunkProducts&) const {}  // layouts are of models without scans
  void operator()(Elementwise& elementwise) const { elementwise.bytes /= static_cast<double>(ways); }
  void operator()(FusedAttention& attention) const {
    const auto parts = static_cast<double>(ways);
    attention.flops.value /= parts;
    attention.query_rows /= parts;
  }
  void operator()(TensorCollective&) const {}  // the model is unsplit: nothing is exchanged inside a layer
};

}  // namespace

Kernel of_multiply(const Kernel& kernel, bool backward, const DimensionSplit& split, double weight_bytes) {
  Kernel part = kernel;
  std::visit(SplitOfMultiply{backward, split, weight_bytes}, part);
  return part;
}

Kernel shared(const Kernel& kernel, std::int64_t ways) {
  Kernel part = kernel;
  std::visit(EvenSplit{ways}, part);
  return part;
}

}  // namespace stepcast::search
