#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "schedules/cost/gpu.h"

namespace stepcast::schedules {

/// A kind of memory-bound kernel that calibration measures, and the operator that it is in a model's list.
struct ElementwiseKind {
  std::string_view kernel;  ///< "layer_norm": as Gpu::elementwise and the measuring program name it
  std::string_view name;    ///< "layer norm": Elementwise::name
  double counted = 1;  ///< bytes that the list counts for it, over those that calibration counts (each tensor once)
};

std::span<const ElementwiseKind> elementwise_kinds();

bool is_elementwise_kind(std::string_view kernel);

/// The share of the streaming rate at which the operator of that name moves the bytes that the list counts for it;
/// nothing where it was not measured.
std::optional<double> measured_share(const Gpu& gpu, std::string_view name);

}  // namespace stepcast::schedules
