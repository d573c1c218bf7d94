#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace stepcast::measure {

/// Bernoulli draws by a hash of seed and position, so that every tensor-parallel rank draws the same.
struct Dropout {
  float probability = 0;  ///< of an element to be dropped
  std::uint64_t seed = 0;
};

/// Whether element `index` is kept. Four neighbours share one 64-bit mix (splitmix64, Steele et al. 2014).
__host__ __device__ inline bool kept(const Dropout& dropout, std::int64_t index) {
  std::uint64_t z = dropout.seed + (static_cast<std::uint64_t>(index) / 4 + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  const auto draw = static_cast<float>(z >> 16 * (static_cast<std::uint64_t>(index) % 4) & 0xffffu);
  return draw >= dropout.probability * 65536.0f;
}

/// y = residual + dropout(x + bias); `mask` gets 1 for kept. `bias` nullptr: none. T: float or bf16.
template <class T>
void bias_dropout_add(const T* x, const T* bias, const T* residual, T* y, unsigned char* mask, std::int64_t rows,
                      std::int64_t columns, const Dropout& dropout, cudaStream_t stream);

/// dx = dy mask / (1 - probability); the residual's gradient is dy itself.
template <class T>
void bias_dropout_add_backward(const T* dy, const unsigned char* mask, T* dx, std::int64_t rows, std::int64_t columns,
                               float probability, cudaStream_t stream);

/// dbias += sum of dy over the rows (fp32).
template <class T>
void bias_backward(const T* dy, float* dbias, std::int64_t rows, std::int64_t columns, cudaStream_t stream);

}  // namespace stepcast::measure
