#include "calibrate/measure/kernels/norm.h"

#include <algorithm>

#include "calibrate/measure/kernels/block.h"
#include "calibrate/measure/kernels/launch.h"

namespace stepcast::measure {
namespace {

constexpr float kEpsilon = 1e-5f;

template <class T>
__global__ void __launch_bounds__(kRowThreads)
    forward_kernel(const T* __restrict__ x, const T* __restrict__ gamma, const T* __restrict__ beta,
                   T* __restrict__ y, float* __restrict__ mean_of, float* __restrict__ rstd_of, int columns) {
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * columns;
  Row<T> row;
  row.load(x + at, columns);
  float mean = 0.0f;
  if (beta != nullptr) {
    float sum = 0.0f;
#pragma unroll
    for (int p = 0; p < Row<T>::kPacks; ++p) {
#pragma unroll
      for (int i = 0; i < kPack<T>; ++i) sum += row.x[p][i];
    }
    mean = across_block<JoinBySum>(sum) / static_cast<float>(columns);
  }
  float squares = 0.0f;
#pragma unroll
  for (int p = 0; p < Row<T>::kPacks; ++p) {
    if (Row<T>::column(p) >= columns) continue;
#pragma unroll
    for (int i = 0; i < kPack<T>; ++i) {
      const float d = row.x[p][i] - mean;
      squares += d * d;
    }
  }
  const float rstd = rsqrtf(across_block<JoinBySum>(squares) / static_cast<float>(columns) + kEpsilon);
#pragma unroll
  for (int p = 0; p < Row<T>::kPacks; ++p) {
    const int column = Row<T>::column(p);
    if (column >= columns) continue;
    float scale[kPack<T>], shift[kPack<T>] = {};
    load_pack(gamma + column, scale);
    if (beta != nullptr) load_pack(beta + column, shift);
#pragma unroll
    for (int i = 0; i < kPack<T>; ++i) row.x[p][i] = (row.x[p][i] - mean) * rstd * scale[i] + shift[i];
  }
  row.store(y + at, columns);
  if (threadIdx.x == 0) {
    rstd_of[blockIdx.x] = rstd;
    if (beta != nullptr) mean_of[blockIdx.x] = mean;
  }
}

/// Each block takes every gridDim.x-th row and keeps its share of dgamma and dbeta in registers.
template <class T>
__global__ void __launch_bounds__(kRowThreads)
    backward_kernel(const T* __restrict__ x, const T* __restrict__ dy, const T* __restrict__ gamma,
                    const float* __restrict__ mean_of, const float* __restrict__ rstd_of, const T* residual, T* dx,
                    float* __restrict__ dgamma, float* __restrict__ dbeta, std::int64_t rows, int columns) {
  constexpr int kPacks = Row<T>::kPacks;
  float gammas[kPacks][kPack<T>] = {}, betas[kPacks][kPack<T>] = {};
  for (std::int64_t r = blockIdx.x; r < rows; r += gridDim.x) {
    const std::int64_t at = r * columns;
    const float mean = dbeta != nullptr ? mean_of[r] : 0.0f, rstd = rstd_of[r];
    Row<T> normal, gradient;  // (x - mean) rstd, and dy gamma
    normal.load(x + at, columns);
    gradient.load(dy + at, columns);
    float sum = 0.0f, product = 0.0f;
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
      const int column = Row<T>::column(p);
      if (column >= columns) continue;
      float scale[kPack<T>];
      load_pack(gamma + column, scale);
#pragma unroll
      for (int i = 0; i < kPack<T>; ++i) {
        const float n = (normal.x[p][i] - mean) * rstd, d = gradient.x[p][i];
        gammas[p][i] += d * n;
        betas[p][i] += d;
        normal.x[p][i] = n;
        gradient.x[p][i] = d * scale[i];
        sum += gradient.x[p][i];
        product += gradient.x[p][i] * n;
      }
    }
    const float mean_gradient = dbeta != nullptr ? across_block<JoinBySum>(sum) / static_cast<float>(columns) : 0.0f;
    const float mean_product = across_block<JoinBySum>(product) / static_cast<float>(columns);
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
      const int column = Row<T>::column(p);
      if (column >= columns) continue;
      float add[kPack<T>] = {};
      if (residual != nullptr) load_pack(residual + at + column, add);
#pragma unroll
      for (int i = 0; i < kPack<T>; ++i)
        gradient.x[p][i] = rstd * (gradient.x[p][i] - mean_gradient - normal.x[p][i] * mean_product) + add[i];
    }
    gradient.store(dx + at, columns);
  }
#pragma unroll
  for (int p = 0; p < kPacks; ++p) {
    const int column = Row<T>::column(p);
    if (column >= columns) continue;
#pragma unroll
    for (int i = 0; i < kPack<T>; ++i) {
      atomicAdd(dgamma + column + i, gammas[p][i]);
      if (dbeta != nullptr) atomicAdd(dbeta + column + i, betas[p][i]);
    }
  }
}

}  // namespace

template <class T>
void norm_forward(const Norm<T>& norm, const T* x, T* y, cudaStream_t stream) {
  launch("norm_forward", forward_kernel<T>, grid_of(norm.rows), row_threads<T>(norm.columns), 0, stream, x, norm.gamma,
         norm.beta, y, norm.mean, norm.rstd, static_cast<int>(norm.columns));
}

template <class T>
void norm_backward(const Norm<T>& norm, const T* x, const T* dy, const T* residual, T* dx, float* dgamma, float* dbeta,
                   cudaStream_t stream) {
  constexpr std::int64_t kBlocks = 528;  // four a multiprocessor on the largest chips: few atomics, all busy
  launch("norm_backward", backward_kernel<T>, grid_of(std::min(norm.rows, kBlocks)), row_threads<T>(norm.columns), 0,
         stream, x, dy, norm.gamma, norm.mean, norm.rstd, residual, dx, dgamma, norm.beta == nullptr ? nullptr : dbeta,
         norm.rows, static_cast<int>(norm.columns));
}

template void norm_forward(const Norm<float>&, const float*, float*, cudaStream_t);
template void norm_forward(const Norm<bf16>&, const bf16*, bf16*, cudaStream_t);
template void norm_backward(const Norm<float>&, const float*, const float*, const float*, float*, float*, float*,
                            cudaStream_t);
template void norm_backward(const Norm<bf16>&, const bf16*, const bf16*, const bf16*, bf16*, float*, float*,
                            cudaStream_t);

}  // namespace stepcast::measure
