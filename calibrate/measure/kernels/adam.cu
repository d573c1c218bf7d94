#include "calibrate/measure/kernels/adam.h"

#include <cmath>

#include "calibrate/measure/kernels/element.h"
#include "calibrate/measure/kernels/launch.h"

namespace stepcast::measure {
namespace {

constexpr unsigned kThreads = 256;

template <class T>
__global__ void adam_kernel(Adam adam, float correction1, float correction2, T* __restrict__ parameters,
                            float* __restrict__ master, float* __restrict__ first, float* __restrict__ second,
                            const float* __restrict__ gradient, std::int64_t elements) {
  const std::int64_t at = (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * 4;
  const auto one = [&](std::int64_t i, float g, float& m, float& v, float p) {
    g *= adam.gradient_scale;
    m = adam.beta1 * m + (1.0f - adam.beta1) * g;
    v = adam.beta2 * v + (1.0f - adam.beta2) * g * g;
    p -= adam.rate * (m * correction1 / (sqrtf(v * correction2) + adam.epsilon) + adam.decay * p);
    parameters[i] = from_float<T>(p);
    return p;
  };
  if (at + 4 <= elements) {  // 16 bytes at once
    float g[4], m[4], v[4], p[4];
    load_pack(gradient + at, g);
    load_pack(first + at, m);
    load_pack(second + at, v);
    if (master != nullptr) load_pack(master + at, p);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float old = master != nullptr ? p[i] : to_float(parameters[at + i]);
      p[i] = one(at + i, g[i], m[i], v[i], old);
    }
    store_pack(first + at, m);
    store_pack(second + at, v);
    if (master != nullptr) store_pack(master + at, p);
    return;
  }
  for (std::int64_t i = at; i < elements; ++i) {
    const float p = one(i, gradient[i], first[i], second[i], master != nullptr ? master[i] : to_float(parameters[i]));
    if (master != nullptr) master[i] = p;
  }
}

}  // namespace

template <class T>
void adam_step(const Adam& adam, T* parameters, float* master, float* first, float* second, const float* gradient,
               std::int64_t elements, cudaStream_t stream) {
  const auto correction = [&](float beta) { return static_cast<float>(1.0 / (1.0 - std::pow(beta, adam.step))); };
  launch("adam_step", adam_kernel<T>, grid_of(blocks_for(elements, 4 * kThreads)), kThreads, 0, stream, adam,
         correction(adam.beta1), correction(adam.beta2), parameters, master, first, second, gradient, elements);
}

#define STEPCAST_ADAM_OF(T) \
  template void adam_step(const Adam&, T*, float*, float*, float*, const float*, std::int64_t, cudaStream_t)
STEPCAST_ADAM_OF(float);
STEPCAST_ADAM_OF(bf16);

}  // namespace stepcast::measure
