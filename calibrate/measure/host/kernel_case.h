#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stepcast::measure {

/// One kernel of one shape: a row of kernels.csv before it is measured. What does not apply is "-" or 0.
///
/// gemm: m, n, k as cuBLAS counts, column-major: C (m x n) = op(A) (m x k) op(B) (k x n), layout says which of A and B
/// are transposed. With row-major activations (tokens x features) and weights (out x in) that is
///   forward            TN  m = out, n = tokens, k = in
///   gradient of input  NN  m = in,  n = tokens, k = out
///   gradient of weight NT  m = in,  n = out,    k = tokens
/// attention: batch = sequences x heads, m queries, n keys, k head size. elementwise: m rows of n columns.
struct KernelCase {
  std::string suite, kernel;
  std::string by = "own";  ///< whose: own, cublaslt; "-" for an empty launch and plain streaming
  std::string dtype = "-", layout = "-";
  std::int64_t batch = 0, m = 0, n = 0, k = 0;
  std::int64_t bytes = 0;  ///< least that must be read and written
  double flops = 0;        ///< a fused multiply-add counts as 2
  bool cold = false;       ///< nothing of its data in the L2 cache when it starts
  int rank = 0;            ///< 0: what a fit cannot do without; 1: what makes it good; 2: what widens it
};

/// The cells of kernels.csv that say what was measured, in the order of its columns, l2 included.
std::vector<std::string> key_of(const KernelCase& one);

/// Bytes of an element: fp32 and tf32 4, fp16 and bf16 2, fp8 1. Throws std::logic_error for others.
std::int64_t element_bytes(const std::string& dtype);

/// A C = A B of `dtype` with C in the same type (bf16 for fp8).
KernelCase gemm_case(const std::string& dtype, const std::string& layout, std::int64_t batch, std::int64_t m,
                     std::int64_t n, std::int64_t k, int rank);

/// Bytes that a kernel of the elementwise suite reads and writes at least, each tensor once. Throws std::logic_error
/// for a kernel that it does not know.
std::int64_t elementwise_bytes(const std::string& kernel, const std::string& dtype, std::int64_t rows,
                               std::int64_t columns);

/// A kernel of the elementwise suite, by its name there, of `rows` rows of `columns` columns.
KernelCase elementwise_case(const std::string& kernel, const std::string& dtype, std::int64_t rows,
                            std::int64_t columns);

/// Floating-point operations of attention: 4 b m n k forward (two multiplies), 10 b m n k backward (five), and of
/// them the share (n + 1) / (2 n) that a causal mask of m = n leaves. Source: Dao 2023 (arXiv 2307.08691), section 3.
double attention_flops(bool backward, bool causal, std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k);

}  // namespace stepcast::measure
