#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "calibrate/measure/kernels/gemm.h"

namespace stepcast::measure {

/// Fills with random numbers of -1 .. 1 in any of the types.
void fill_numbers(Number number, void* to, std::int64_t elements, std::uint64_t seed, cudaStream_t stream);

/// Computes 256 randomly chosen elements of the result again, in double, and returns the largest difference from `c`
/// over sqrt(k) / 3, the spread of such a sum. Waits for the stream.
double gemm_error(const CublasShape& shape, const void* a, const void* b, const void* c, cudaStream_t stream);

/// What gemm_error may be: rounding of the result, and of the operands for tf32.
double gemm_tolerance(Number in);

}  // namespace stepcast::measure
