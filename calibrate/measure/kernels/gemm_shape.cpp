#include <stdexcept>

#include "calibrate/measure/kernels/gemm.h"

namespace stepcast::measure {

Number number_named(const std::string& dtype) {
  if (dtype == "fp32") return Number::fp32;
  if (dtype == "tf32") return Number::tf32;
  if (dtype == "fp16") return Number::fp16;
  if (dtype == "bf16") return Number::bf16;
  if (dtype == "fp8") return Number::fp8;
  throw std::logic_error("no numbers called " + dtype);
}

CublasShape gemm_shape(const std::string& dtype, const std::string& layout, std::int64_t batch, std::int64_t m,
                       std::int64_t n, std::int64_t k) {
  CublasShape shape;
  shape.in = number_named(dtype);
  shape.out = shape.in == Number::fp8 ? Number::bf16 : shape.in;
  shape.transpose_a = layout.at(0) == 'T';
  shape.transpose_b = layout.at(1) == 'T';
  shape.batch = batch;
  shape.m = m;
  shape.n = n;
  shape.k = k;
  return shape;
}

}  // namespace stepcast::measure
