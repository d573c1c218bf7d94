#pragma once

#include <cstdint>

#include "search/layouts/run_layouts.h"

namespace stepcast::search {

/// A stage of a pipeline and the layouts of its operators.
struct LayoutStage {
  schedules::BlockRange blocks{};
  std::uint32_t layers = 0;
  std::uint32_t held = 0;  ///< micro-batches whose activations it holds
  RunLayouts run;
};

}  // namespace stepcast::search
