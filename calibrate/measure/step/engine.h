#pragma once

#include "calibrate/measure/kernels/gemm.h"
#include "calibrate/measure/step/peers.h"
#include "calibrate/measure/step/pool.h"

namespace stepcast::measure {

/// What a rank's passes run on. All work goes to one stream.
struct Engine {
  cudaStream_t stream = nullptr;
  CublasGemm& gemm;
  Pool& pool;
  Peers* peers = nullptr;
};

/// y = x W^T (+ bias): x rows x in, W out x in, y rows x out, all row by row.
void linear(const Engine& engine, const bf16* x, const bf16* weight, const bf16* bias, bf16* y, std::int64_t rows,
            std::int64_t in, std::int64_t out);
/// dx = dy W.
void linear_input_gradient(const Engine& engine, const bf16* dy, const bf16* weight, bf16* dx, std::int64_t rows,
                           std::int64_t in, std::int64_t out);
/// dW += dy^T x, in fp32.
void linear_weight_gradient(const Engine& engine, const bf16* x, const bf16* dy, float* dweight, std::int64_t rows,
                            std::int64_t in, std::int64_t out);

/// Sums `block` over the tensor ranks, if there are several.
void sum_over_tensor_ranks(const Engine& engine, int ranks, PoolBlock<bf16>& block);

}  // namespace stepcast::measure
