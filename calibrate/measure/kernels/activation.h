#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace stepcast::measure {

/// GELU by its tanh form (Hendrycks and Gimpel 2016, arXiv 1606.08415). Elements in multiples of 16 bytes.
/// T: float or bf16, here and below.
template <class T>
void gelu_forward(const T* x, T* y, std::int64_t elements, cudaStream_t stream);
template <class T>
void gelu_backward(const T* x, const T* dy, T* dx, std::int64_t elements, cudaStream_t stream);

/// SwiGLU (Shazeer 2020, arXiv 2002.05202): y = silu(gate) up, each row of x being `columns` of gate, then of up.
template <class T>
void swiglu_forward(const T* x, T* y, std::int64_t rows, std::int64_t columns, cudaStream_t stream);
template <class T>
void swiglu_backward(const T* x, const T* dy, T* dx, std::int64_t rows, std::int64_t columns, cudaStream_t stream);

}  // namespace stepcast::measure
