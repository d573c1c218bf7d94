#pragma once

#include "calibrate/measure/device/kernel_timer.h"
#include "calibrate/measure/host/kernel_case.h"
#include "calibrate/measure/kernels/gemm.h"

namespace stepcast::measure {

/// A kernel with its operands in memory, random numbers in them.
struct PreparedKernel {
  Work work;
  std::function<double(cudaStream_t)> error;  ///< of the result that `work` left, for multiplies; else empty
  double tolerance = 0;
};

/// Allocates and fills what a case of the plan needs. `gemm` must outlive the result. Throws std::runtime_error where
/// memory does not suffice or a library refuses the shape.
PreparedKernel prepare(const KernelCase& one, CublasGemm& gemm, cudaStream_t stream);

}  // namespace stepcast::measure
