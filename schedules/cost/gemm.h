#pragma once

namespace stepcast::schedules {

/// Constants of the matrix-multiply model of one GPU (see gemm.cpp for the model).
struct GemmModel {
  double ceiling = 1.0;
};

}  // namespace stepcast::schedules
