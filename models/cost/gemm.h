#pragma once

#include <cstdint>

#include "models/layers/gemm_shape.h"
#include "scenario/gemm_model.h"
#include "sim/units.h"

namespace stepcast::schedules {

/// What the model needs to know of the GPU besides.
struct GemmMachine {
  std::uint32_t sms = 1;
  FlopRate peak{};
  Bandwidth memory{};  ///< data sheet
  double memory_efficiency = 1;
};

/// Bytes at a multiple of which every row of the three matrices begins: 16, which one load instruction fetches at most,
/// or 8, 4, 2, 1. Where rows lie one behind the other that is the largest power of two in their lengths. Inputs of less
/// than a byte an element count as one byte: their kernels take no other sizes than multiples of 32 elements.
std::int64_t row_alignment(const GemmShape& shape);

/// Time of the kernel alone, launch not included. The SMs work in waves of tiles, the last one maybe half empty (tile
/// and wave quantisation); a tile shape and a split of k (1 to 4, with the partial sums' traffic) are tried and the
/// fastest kept, as libraries do; the chip's power limit bounds long kernels; part of the writing shows after the last
/// multiply; a multiply too thin to feed the SMs is bound by memory; the SMs load rows that do not begin at multiples
/// of 16 bytes in smaller pieces (row_alignment). Requires positive m, n, k, batch. Constants are fitted:
/// docs/accuracy.md.
Time gemm_time(const GemmShape& shape, const GemmModel& model, const GemmMachine& machine);

/// What a multiply of several groups at once, zeros between them, has on its diagonal.
enum class JoinedGroups {
  by_input,   ///< the second input: (m x j k) times (j k x j n)
  by_output,  ///< the results: (j m x k) times (k x j n), of which a j-th is kept
};

/// The same for an implicit multiply, which reads only `read` bytes however often it uses them. Its gradient of weights
/// sums over all pixels into few results, and libraries split that sum over as many SMs as there are. `shape.batch` is
/// its groups. Narrow ones would each pad a tile; libraries join some of them to one multiply with zeros between them
/// (ROCm/composable_kernel, pull requests 2986 and 3136; CUTLASS, GroupMode::kMultipleGroup), as many here as take
/// least time. So no convolution takes longer than one of the same channels in fewer groups, which has more to
/// multiply.
Time convolution_time(const GemmShape& shape, double read, JoinedGroups groups, const GemmModel& model,
                      const GemmMachine& machine);

}  // namespace stepcast::schedules
