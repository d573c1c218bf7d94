#include "calibrate/measure/kernels/cross_entropy.h"

#include "calibrate/measure/kernels/block.h"
#include "calibrate/measure/kernels/launch.h"

namespace stepcast::measure {
namespace {

constexpr unsigned kThreads = 512;

/// One pass: each thread keeps the most it saw and a sum scaled to that (Milakov and Gimelshein 2018, arXiv 1805.02867).
template <class T>
__global__ void __launch_bounds__(kThreads)
    forward_kernel(const T* __restrict__ logits, const std::int32_t* __restrict__ targets, TablePart part,
                   float* __restrict__ log_sum, float* __restrict__ target) {
  const T* const row = logits + static_cast<std::int64_t>(blockIdx.x) * part.count;
  float most = -INFINITY, sum = 0.0f;
  for (int c = static_cast<int>(threadIdx.x) * kPack<T>; c < part.count; c += kThreads * kPack<T>) {
    float v[kPack<T>];
    load_pack(row + c, v);
    float high = v[0];
#pragma unroll
    for (int i = 1; i < kPack<T>; ++i) high = fmaxf(high, v[i]);
    if (high > most) {
      sum *= __expf(most - high);
      most = high;
    }
#pragma unroll
    for (int i = 0; i < kPack<T>; ++i) sum += __expf(v[i] - most);
  }
  const float whole = across_block<JoinByMaximum>(most);
  const float total = across_block<JoinBySum>(sum == 0.0f ? 0.0f : sum * __expf(most - whole));
  if (threadIdx.x == 0) {
    const std::int32_t at = targets[blockIdx.x] - part.first;
    log_sum[blockIdx.x] = whole + logf(total);
    target[blockIdx.x] = at >= 0 && at < part.count ? to_float(row[at]) : 0.0f;
  }
}

__global__ void combine_kernel(const float* __restrict__ all_log_sum, const float* __restrict__ all_target, int parts,
                               std::int64_t stride, float* __restrict__ log_sum, float* __restrict__ loss,
                               std::int64_t rows) {
  const std::int64_t r = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  float mine = 0.0f;
  if (r < rows) {
    float most = -INFINITY, target = 0.0f, sum = 0.0f;
    for (int p = 0; p < parts; ++p) {
      most = fmaxf(most, all_log_sum[p * stride + r]);
      target += all_target[p * stride + r];
    }
    for (int p = 0; p < parts; ++p) sum += __expf(all_log_sum[p * stride + r] - most);
    log_sum[r] = most + logf(sum);
    mine = log_sum[r] - target;
  }
  mine = across_block<JoinBySum>(mine);
  if (threadIdx.x == 0) atomicAdd(loss, mine / static_cast<float>(rows));
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    backward_kernel(const T* logits, const std::int32_t* __restrict__ targets, TablePart part,
                    const float* __restrict__ log_sum, T* dlogits, float scale) {
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * part.count;
  const float whole = log_sum[blockIdx.x];
  const std::int32_t target = targets[blockIdx.x] - part.first;
  for (int c = static_cast<int>(threadIdx.x) * kPack<T>; c < part.count; c += kThreads * kPack<T>) {
    float v[kPack<T>];
    load_pack(logits + at + c, v);
#pragma unroll
    for (int i = 0; i < kPack<T>; ++i) v[i] = scale * (__expf(v[i] - whole) - (c + i == target ? 1.0f : 0.0f));
    store_pack(dlogits + at + c, v);
  }
}

template <class T>
void require_packs(TablePart part) {
  if (part.count % kPack<T> != 0) throw std::logic_error("a vocabulary of " + std::to_string(part.count));
}

}  // namespace

template <class T>
void cross_entropy_forward(const T* logits, const std::int32_t* targets, TablePart part, float* log_sum, float* target,
                           std::int64_t rows, cudaStream_t stream) {
  require_packs<T>(part);
  launch("cross_entropy_forward", forward_kernel<T>, grid_of(rows), kThreads, 0, stream, logits, targets, part, log_sum,
         target);
}

void cross_entropy_combine(const float* all_log_sum, const float* all_target, int parts, std::int64_t stride,
                           float* log_sum, float* loss, std::int64_t rows, cudaStream_t stream) {
  launch("cross_entropy_combine", combine_kernel, grid_of(blocks_for(rows, kThreads)), kThreads, 0, stream, all_log_sum,
         all_target, parts, stride, log_sum, loss, rows);
}

template <class T>
void cross_entropy_backward(const T* logits, const std::int32_t* targets, TablePart part, const float* log_sum,
                            T* dlogits, float scale, std::int64_t rows, cudaStream_t stream) {
  require_packs<T>(part);
  launch("cross_entropy_backward", backward_kernel<T>, grid_of(rows), kThreads, 0, stream, logits, targets, part,
         log_sum, dlogits, scale);
}

#define STEPCAST_CROSS_ENTROPY_OF(T)                                                                             \
  template void cross_entropy_forward(const T*, const std::int32_t*, TablePart, float*, float*, std::int64_t,    \
                                      cudaStream_t);                                                             \
  template void cross_entropy_backward(const T*, const std::int32_t*, TablePart, const float*, T*, float,        \
                                       std::int64_t, cudaStream_t)
STEPCAST_CROSS_ENTROPY_OF(float);
STEPCAST_CROSS_ENTROPY_OF(bf16);

}  // namespace stepcast::measure
