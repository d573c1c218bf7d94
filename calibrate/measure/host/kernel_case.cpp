#include "calibrate/measure/host/kernel_case.h"

#include <stdexcept>

namespace stepcast::measure {

std::vector<std::string> key_of(const KernelCase& one) {
  const auto whole = [](std::int64_t value) { return value == 0 ? std::string("-") : std::to_string(value); };
  return {one.suite,
          one.kernel,
          one.by,
          one.dtype,
          one.layout,
          whole(one.batch),
          whole(one.m),
          whole(one.n),
          whole(one.k),
          whole(one.bytes),
          one.cold ? "cold" : "warm"};
}

std::int64_t element_bytes(const std::string& dtype) {
  if (dtype == "fp32" || dtype == "tf32") return 4;
  if (dtype == "fp16" || dtype == "bf16") return 2;
  if (dtype == "fp8") return 1;
  throw std::logic_error("no element size of " + dtype);
}

KernelCase gemm_case(const std::string& dtype, const std::string& layout, std::int64_t batch, std::int64_t m,
                     std::int64_t n, std::int64_t k, int rank) {
  const std::int64_t in = element_bytes(dtype), out = dtype == "fp8" ? 2 : in;
  KernelCase one;
  one.suite = batch == 1 ? "gemm" : "batched_gemm";
  one.kernel = "matmul";
  one.by = "cublaslt";
  one.dtype = dtype;
  one.layout = layout;
  one.batch = batch;
  one.m = m;
  one.n = n;
  one.k = k;
  one.bytes = batch * (in * (m * k + k * n) + out * m * n);
  one.flops =
      2.0 * static_cast<double>(batch) * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  one.cold = true;
  one.rank = rank;
  return one;
}

std::int64_t elementwise_bytes(const std::string& kernel, const std::string& dtype, std::int64_t rows,
                               std::int64_t columns) {
  const std::int64_t e = element_bytes(dtype), all = rows * columns;
  if (kernel == "layer_norm") return 2 * all * e + 2 * columns * e + 2 * rows * 4;
  if (kernel == "layer_norm_backward") return 3 * all * e + columns * e + 2 * rows * 4 + 2 * columns * 4;
  if (kernel == "rms_norm") return 2 * all * e + columns * e + rows * 4;
  if (kernel == "rms_norm_backward") return 3 * all * e + columns * e + rows * 4 + columns * 4;
  if (kernel == "softmax" || kernel == "gelu") return 2 * all * e;
  if (kernel == "softmax_backward" || kernel == "gelu_backward") return 3 * all * e;
  if (kernel == "swiglu") return 3 * all * e;
  if (kernel == "swiglu_backward") return 5 * all * e;
  if (kernel == "bias_dropout_add") return 3 * all * e + all + columns * e;
  if (kernel == "bias_dropout_add_backward") return 2 * all * e + all;
  if (kernel == "bias_backward") return all * e + columns * 4;
  if (kernel == "embedding_gather") return 2 * all * e + rows * 4;
  if (kernel == "embedding_scatter") return all * e + 2 * all * 4 + rows * 4;
  if (kernel == "cross_entropy") return all * e + 3 * rows * 4;
  if (kernel == "cross_entropy_backward") return 2 * all * e + 2 * rows * 4;
  // Gradient read in fp32; moments (and, where the parameters are narrower, an fp32 copy) read and written.
  if (kernel == "adam") return all * (4 + 16 + (e == 4 ? 8 : 8 + e));
  throw std::logic_error("no traffic of " + kernel);
}

KernelCase elementwise_case(const std::string& kernel, const std::string& dtype, std::int64_t rows,
                            std::int64_t columns) {
  KernelCase one;
  one.suite = "elementwise";
  one.kernel = kernel;
  one.dtype = dtype;
  one.m = rows;
  one.n = columns;
  one.bytes = elementwise_bytes(kernel, dtype, rows, columns);
  return one;
}

double attention_flops(bool backward, bool causal, std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k) {
  const double all = (backward ? 10.0 : 4.0) * static_cast<double>(batch) * static_cast<double>(m) *
                     static_cast<double>(n) * static_cast<double>(k);
  return causal ? all * static_cast<double>(n + 1) / static_cast<double>(2 * n) : all;
}

}  // namespace stepcast::measure
