#pragma once

#include <cstdint>
#include <optional>

#include "sim/units.h"

namespace stepcast::schedules {

/// What feeds the data ranks. Loaders run ahead of the step, so the slowest of storage, CPU and GPU sets the pace.
struct InputPlan {
  std::optional<Bytes> bytes_per_sample{};       ///< read from storage
  std::optional<Bandwidth> storage_bandwidth{};  ///< of all data ranks together
  Time preprocessing{};                          ///< of one sample on one core
  std::uint32_t workers = 1;                     ///< cores of each data rank that preprocess
};

}  // namespace stepcast::schedules
