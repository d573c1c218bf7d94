#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>

namespace stepcast::measure {

/// What the operands and the result of a multiply are; tf32 is fp32 in memory.
enum class Number { fp32, tf32, fp16, bf16, fp8 };
Number number_named(const std::string& dtype);

/// C = op(A) op(B) (+ C) (+ bias along m), column-major without gaps, `batch` of them one behind the other.
struct CublasShape {
  Number in = Number::bf16, out = Number::bf16;
  bool transpose_a = false, transpose_b = false;
  std::int64_t batch = 1, m = 0, n = 0, k = 0;
  bool accumulate = false;  ///< add to what C holds
  bool bias = false;        ///< add a vector of m, of the type of C
  auto key() const { return std::make_tuple(in, out, transpose_a, transpose_b, batch, m, n, k, accumulate, bias); }
};

/// cuBLASLt on the current GPU: the first algorithm of its heuristic, with up to 32 MiB of workspace, as frameworks
/// call it. One object serves one stream at a time.
class CublasGemm {
 public:
  CublasGemm();
  ~CublasGemm();
  CublasGemm(const CublasGemm&) = delete;
  CublasGemm& operator=(const CublasGemm&) = delete;

  /// Throws std::runtime_error where cuBLASLt has no algorithm for the shape.
  void run(const CublasShape& shape, const void* a, const void* b, void* c, const void* bias, cudaStream_t stream);

  static std::int64_t workspace_bytes();  ///< of GPU memory, that one object takes

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

/// "TN": A transposed, B not.
CublasShape gemm_shape(const std::string& dtype, const std::string& layout, std::int64_t batch, std::int64_t m,
                       std::int64_t n, std::int64_t k);

}  // namespace stepcast::measure
