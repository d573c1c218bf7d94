#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "models/layers/kernels.h"
#include "scenario/gpu.h"

namespace stepcast::schedules {

/// A memory-bound kernel that calibration measures, and the operator whose kernel it is.
struct MeasuredKernel {
  std::string_view key;  ///< "layer_norm": as Gpu::elementwise and the measuring program name it
  OperatorKind kind{};
  bool backward = false;
  double counted = 1;  ///< bytes that the operator counts for it, over those that calibration counts (each tensor once)
};

std::span<const MeasuredKernel> measured_kernels();

bool is_measured_kernel(std::string_view key);

/// The share of the streaming rate at which a kernel moves the bytes that its operator counts for it; nothing where it
/// was not measured.
std::optional<double> measured_share(const Gpu& gpu, const Elementwise& kernel);

}  // namespace stepcast::schedules
