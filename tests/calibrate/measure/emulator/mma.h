#pragma once

// A stand-in for CUDA's warp matrix multiply: 16 x 16 x 16, each thread of the warp holds 8 of the 256 elements.

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_runtime.h"

namespace emulator {
inline float widen(float x) { return x; }
inline float widen(__nv_bfloat16 x) { return __bfloat162float(x); }
inline float widen(__half x) { return __half2float(x); }
}  // namespace emulator

namespace nvcuda::wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };

template <class Use, int M, int N, int K, class T, class Layout = void>
struct fragment {
  static_assert(M == 16 && N == 16 && K == 16);
  static constexpr int num_elements = 8;
  T x[8];
};

template <class Fragment, class T>
void fill_fragment(Fragment& f, T value) {
  for (auto& element : f.x) element = value;
}

/// Addresses on multiples of 32 bytes, rows 16 bytes apart or a multiple (CUDA programming guide, "Warp Matrix
/// Functions"): GPUs fault or read something else.
template <class T>
void require_aligned(const T* at, unsigned stride) {
  if (reinterpret_cast<std::uintptr_t>(at) % 32 == 0 && stride * sizeof(T) % 16 == 0) return;
  std::fprintf(stderr, "emulator: a matrix fragment out of line\n");
  std::abort();
}

template <class Use, class T, class Layout>
void load_matrix_sync(fragment<Use, 16, 16, 16, T, Layout>& f, const T* from, unsigned stride) {
  require_aligned(from, stride);
  emulator::wait_warp();
  for (unsigned e = 0; e < 8; ++e) {
    const unsigned at = emulator::lane() * 8 + e, row = at / 16, column = at % 16;
    f.x[e] = std::is_same_v<Layout, col_major> ? from[column * stride + row] : from[row * stride + column];
  }
}

template <class T>
void load_matrix_sync(fragment<accumulator, 16, 16, 16, T, void>& f, const T* from, unsigned stride, layout_t) {
  require_aligned(from, stride);
  emulator::wait_warp();
  for (unsigned e = 0; e < 8; ++e) {
    const unsigned at = emulator::lane() * 8 + e;
    f.x[e] = from[at / 16 * stride + at % 16];
  }
}

template <class T>
void store_matrix_sync(T* to, const fragment<accumulator, 16, 16, 16, T, void>& f, unsigned stride, layout_t) {
  require_aligned(to, stride);
  emulator::wait_warp();
  for (unsigned e = 0; e < 8; ++e) {
    const unsigned at = emulator::lane() * 8 + e;
    to[at / 16 * stride + at % 16] = f.x[e];
  }
}

/// d = a b + c, sums in float.
template <class T, class LayoutA, class LayoutB>
void mma_sync(fragment<accumulator, 16, 16, 16, float, void>& d, const fragment<matrix_a, 16, 16, 16, T, LayoutA>& a,
              const fragment<matrix_b, 16, 16, 16, T, LayoutB>& b,
              const fragment<accumulator, 16, 16, 16, float, void>& c) {
  emulator::Mailbox& box = emulator::mailbox();
  float mine[16];
  for (unsigned e = 0; e < 8; ++e) {
    mine[e] = emulator::widen(a.x[e]);
    mine[8 + e] = emulator::widen(b.x[e]);
  }
  std::memcpy(box.lane[emulator::lane()], mine, sizeof(mine));
  emulator::wait_warp();
  const auto at = [&](unsigned matrix, unsigned row, unsigned column) {
    const unsigned index = row * 16 + column;
    float value;
    std::memcpy(&value, box.lane[index / 8] + 4 * (8 * matrix + index % 8), sizeof(value));
    return value;
  };
  for (unsigned e = 0; e < 8; ++e) {
    const unsigned index = emulator::lane() * 8 + e;
    float sum = c.x[e];
    for (unsigned k = 0; k < 16; ++k) sum += at(0, index / 16, k) * at(1, k, index % 16);
    d.x[e] = sum;
  }
  emulator::wait_warp();
}

}  // namespace nvcuda::wmma
