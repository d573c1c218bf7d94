#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace stepcast::measure {

/// y = exp(x - max) / sum of each row. Rows up to 12288 columns, a multiple of 16 bytes. T: float or bf16.
template <class T>
void softmax_forward(const T* x, T* y, std::int64_t rows, std::int64_t columns, cudaStream_t stream);

/// dx = y (dy - sum of y dy over the row).
template <class T>
void softmax_backward(const T* y, const T* dy, T* dx, std::int64_t rows, std::int64_t columns, cudaStream_t stream);

}  // namespace stepcast::measure
