#pragma once

#include <cstdint>

#include "sim/units.h"

namespace stepcast::schedules {

/// One matrix multiply, or `batch` of them in one kernel: (m x k) times (k x n). Inputs of `input_bytes` an element;
/// each output element costs `output_bytes` of memory traffic (2 written as fp16; 8 where it is added to an fp32
/// gradient).
struct GemmShape {
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t batch = 1;
  double input_bytes = 2;  ///< nvfp4 has less than one
  std::int64_t output_bytes = 2;
  /// The first input is stored by columns, m elements in a row of memory, as a gradient of weights reads it (layout NT
  /// of BLAS). Else it is stored by rows, k elements each (TN, NN).
  bool by_columns = false;

  Flops flops() const {
    return {2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) *
            static_cast<double>(batch)};
  }
};

}  // namespace stepcast::schedules
