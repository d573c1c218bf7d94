#pragma once

#include <cstdint>

#include "sim/units.h"

namespace stepcast::schedules {

/// One matrix multiply, or `batch` of them in one kernel: (m x k) times (k x n). Inputs of `input_bytes` an element;
/// each output element costs `output_bytes` of memory traffic (2 written as fp16; 8 where it is added to an fp32
/// gradient).
struct GemmShape {
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t batch = 1;
  double input_bytes = 2;  ///< nvfp4 has less than one
  std::int64_t output_bytes = 2;

  Flops flops() const {
    return {2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) *
            static_cast<double>(batch)};
  }
};

/// Constants of the matrix-multiply model for one GPU. Rates are fractions of the precision's peak.
struct GemmModel {
  double mainloop = 0.9;       ///< what an SM busy on a 256x128 tile reaches
  double sustained = 0.85;     ///< what the whole chip holds under its power limit
  double tile_128 = 0.8;       ///< a 128x128 tile's rate over a 256x128 tile's
  double tile_64 = 0.5;        ///< a 128x64 tile's, likewise; squared for 64x64
  double fill = 100;           ///< start-up of a tile, in elements of k multiplied in that time
  double exposed_write = 0.5;  ///< share of the time to write the results that the multiplying does not hide, [0, 1]
};

/// What the model needs to know of the GPU besides.
struct GemmMachine {
  std::uint32_t sms = 1;
  FlopRate peak{};
  Bandwidth memory{};  ///< data sheet
  double memory_efficiency = 1;
};

/// Time of the kernel alone, launch not included. The SMs work in waves of tiles, the last one maybe half empty (tile
/// and wave quantisation); a tile shape and a split of k (1 to 4, with the partial sums' traffic) are tried and the
/// fastest kept, as libraries do; the chip's power limit bounds long kernels; part of the writing shows after the last
/// multiply; a multiply too thin to feed the SMs is bound by memory. Requires positive m, n, k, batch. Constants are
/// fitted: docs/accuracy.md.
Time gemm_time(const GemmShape& shape, const GemmModel& model, const GemmMachine& machine);

/// The same for an implicit multiply, which reads only `read` bytes however often it uses them. Its gradient of weights
/// sums over all pixels into few results, and libraries split that sum over as many SMs as there are.
Time convolution_time(const GemmShape& shape, double read, const GemmModel& model, const GemmMachine& machine);

}  // namespace stepcast::schedules
