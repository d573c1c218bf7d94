#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace stepcast::measure {

/// Where the rows of a tensor of (sequences, heads, rows, head size) lie, in elements: head vectors are contiguous.
struct AttentionStrides {
  std::int64_t sequence = 0, head = 0, row = 0;
};

/// softmax(Q K^T / sqrt(head size)) V by tiles that stay on chip, with the running maximum and sum of each row (Dao et
/// al. 2022, arXiv 2205.14135; Dao 2023, arXiv 2307.08691). Multiplies run on the tensor cores, sums are fp32. bf16
/// needs compute capability 8.0; on older GPUs use half.
struct AttentionCall {
  std::int64_t sequences = 1, heads = 1;
  int queries = 0, keys = 0, head = 64;  ///< head size: 64 or 128
  bool causal = false;                   ///< query i sees keys 0 .. i; requires as many queries as keys
  AttentionStrides q, k, v, o;           ///< rows on multiples of 16 bytes; gradients lie as what they are of
};

/// o, and of each row the log of the sum of exponentials (sequences x heads x queries, fp32). T: bf16 or half.
template <class T>
void attention_forward(const AttentionCall& a, const T* q, const T* k, const T* v, T* o, float* log_sum,
                       cudaStream_t stream);

/// fp32 numbers that attention_backward needs to work in.
std::int64_t attention_work(const AttentionCall& a);

/// Gradients of q, k and v from those of o. `work`: attention_work(a) floats. The order of additions to dq is not
/// fixed: last bits differ from run to run.
template <class T>
void attention_backward(const AttentionCall& a, const T* q, const T* k, const T* v, const T* o, const T* d_o,
                        const float* log_sum, T* dq, T* dk, T* dv, float* work, cudaStream_t stream);

}  // namespace stepcast::measure
