#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace stepcast::measure {

/// Layer norm (Ba et al. 2016, arXiv 1607.06450) and RMS norm (Zhang and Sennrich 2019, arXiv 1910.07467) of each row:
/// y = (x - mean) rstd gamma + beta, and y = x rstd gamma. `beta` nullptr: RMS norm. Statistics are fp32, epsilon 1e-5.
/// Rows up to 12288 columns, a multiple of 16 bytes. T: float or bf16.
template <class T>
struct Norm {
  std::int64_t rows = 0, columns = 0;
  const T *gamma = nullptr, *beta = nullptr;
  float *mean = nullptr, *rstd = nullptr;  ///< of each row; mean is not used by RMS norm
};

template <class T>
void norm_forward(const Norm<T>& norm, const T* x, T* y, cudaStream_t stream);

/// dx = gradient of x (+ `residual`, where not nullptr), and dgamma, dbeta += their gradients (fp32).
template <class T>
void norm_backward(const Norm<T>& norm, const T* x, const T* dy, const T* residual, T* dx, float* dgamma, float* dbeta,
                   cudaStream_t stream);

}  // namespace stepcast::measure
