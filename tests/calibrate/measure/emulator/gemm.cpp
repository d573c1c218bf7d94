#include "calibrate/measure/kernels/gemm.h"

#include <stdexcept>
#include <vector>

#include "calibrate/measure/kernels/element.h"

// In place of cuBLASLt: bf16 operands, fp32 sums, a result of bf16 or fp32, one multiply at a time.

namespace stepcast::measure {

struct CublasGemm::Library {};

CublasGemm::CublasGemm() = default;
CublasGemm::~CublasGemm() = default;

void CublasGemm::run(const CublasShape& s, const void* a, const void* b, void* c, const void* bias, cudaStream_t) {
  if (s.in != Number::bf16 || s.batch != 1 || (s.out != Number::bf16 && s.out != Number::fp32))
    throw std::logic_error("the stand-in of cuBLASLt multiplies bf16 alone");
  const auto* const left = static_cast<const bf16*>(a);
  const auto* const right = static_cast<const bf16*>(b);
  const auto m = static_cast<std::size_t>(s.m), n = static_cast<std::size_t>(s.n), k = static_cast<std::size_t>(s.k);
  std::vector<float> wide(m * k), column(m);  // op(A), column by column
  for (std::size_t j = 0; j < k; ++j) {
    for (std::size_t i = 0; i < m; ++i) wide[j * m + i] = to_float(s.transpose_a ? left[i * k + j] : left[j * m + i]);
  }
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < m; ++i) {
      column[i] = s.bias ? to_float(static_cast<const bf16*>(bias)[i]) : 0.0f;
      if (!s.accumulate) continue;
      column[i] += s.out == Number::fp32 ? static_cast<const float*>(c)[j * m + i]
                                         : to_float(static_cast<const bf16*>(c)[j * m + i]);
    }
    for (std::size_t p = 0; p < k; ++p) {
      const float factor = to_float(s.transpose_b ? right[p * n + j] : right[j * k + p]);
      for (std::size_t i = 0; i < m; ++i) column[i] += wide[p * m + i] * factor;
    }
    for (std::size_t i = 0; i < m; ++i) {
      if (s.out == Number::fp32) {
        static_cast<float*>(c)[j * m + i] = column[i];
      } else {
        static_cast<bf16*>(c)[j * m + i] = from_float<bf16>(column[i]);
      }
    }
  }
}

}  // namespace stepcast::measure
