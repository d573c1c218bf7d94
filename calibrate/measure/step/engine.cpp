#include "calibrate/measure/step/engine.h"

namespace stepcast::measure {

// cuBLAS counts column by column: a matrix of rows x in, row by row, is in x rows to it.

void linear(const Engine& engine, const bf16* x, const bf16* weight, const bf16* bias, bf16* y, std::int64_t rows,
            std::int64_t in, std::int64_t out) {
  CublasShape shape = gemm_shape("bf16", "TN", 1, out, rows, in);
  shape.bias = bias != nullptr;
  engine.gemm.run(shape, weight, x, y, bias, engine.stream);
}

void linear_input_gradient(const Engine& engine, const bf16* dy, const bf16* weight, bf16* dx, std::int64_t rows,
                           std::int64_t in, std::int64_t out) {
  engine.gemm.run(gemm_shape("bf16", "NN", 1, in, rows, out), weight, dy, dx, nullptr, engine.stream);
}

void linear_weight_gradient(const Engine& engine, const bf16* x, const bf16* dy, float* dweight, std::int64_t rows,
                            std::int64_t in, std::int64_t out) {
  CublasShape shape = gemm_shape("bf16", "NT", 1, in, out, rows);
  shape.out = Number::fp32;
  shape.accumulate = true;
  engine.gemm.run(shape, x, dy, dweight, nullptr, engine.stream);
}

void sum_over_tensor_ranks(const Engine& engine, int ranks, PoolBlock<bf16>& block) {
  if (ranks > 1) engine.peers->all_reduce(RankGroup::tensor, block.data(), block.size(), Number::bf16, engine.stream);
}

}  // namespace stepcast::measure
