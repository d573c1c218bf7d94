#pragma once

#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

#include "calibrate/measure/kernels/element.h"

namespace stepcast::measure {

struct JoinBySum {
  static __device__ __forceinline__ float none() { return 0.0f; }
  static __device__ __forceinline__ float join(float a, float b) { return a + b; }
};
struct JoinByMaximum {
  static __device__ __forceinline__ float none() { return -INFINITY; }
  static __device__ __forceinline__ float join(float a, float b) { return fmaxf(a, b); }
};

template <class Join>
__device__ __forceinline__ float across_warp(float x) {
#pragma unroll
  for (int other = 16; other > 0; other /= 2) x = Join::join(x, __shfl_xor_sync(0xffffffffu, x, other));
  return x;
}

/// The same value in every thread of the block. Requires whole warps, all of them here.
template <class Join>
__device__ __forceinline__ float across_block(float x) {
  __shared__ float of_warp[32];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  x = across_warp<Join>(x);
  __syncthreads();  // an earlier call's values are read
  if (lane == 0) of_warp[warp] = x;
  __syncthreads();
  return across_warp<Join>(lane < warps ? of_warp[lane] : Join::none());
}

/// Rows are held in registers: this many elements a thread, so up to 768 threads hold 12288 columns.
inline constexpr int kRowElements = 16;
inline constexpr int kRowThreads = 768;

/// A row of a matrix spread over a block: thread t holds packs t, t + threads, ...
template <class T>
struct Row {
  static constexpr int kPacks = kRowElements / kPack<T>;
  float x[kPacks][kPack<T>];

  __device__ __forceinline__ void load(const T* row, int columns, float outside = 0.0f) {
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
      const int at = column(p);
      if (at < columns) {
        load_pack(row + at, x[p]);
      } else {
#pragma unroll
        for (int i = 0; i < kPack<T>; ++i) x[p][i] = outside;
      }
    }
  }
  __device__ __forceinline__ void store(T* row, int columns) const {
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
      if (column(p) < columns) store_pack(row + column(p), x[p]);
    }
  }
  /// First column of this thread's pack p.
  static __device__ __forceinline__ int column(int p) {
    return (p * static_cast<int>(blockDim.x) + static_cast<int>(threadIdx.x)) * kPack<T>;
  }
};

/// Threads that hold a row of `columns`. Throws std::logic_error for more than fit, and for a width that is no multiple
/// of 16 bytes.
template <class T>
unsigned row_threads(std::int64_t columns) {
  const std::int64_t threads = (columns + kRowElements - 1) / kRowElements;
  if (columns < 1 || columns % kPack<T> != 0 || threads > kRowThreads)
    throw std::logic_error("rows of " + std::to_string(columns) + " columns");
  return static_cast<unsigned>((threads + 31) / 32 * 32);
}

}  // namespace stepcast::measure
