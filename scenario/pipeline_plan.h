#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scenario/partition.h"
#include "scenario/placement.h"

namespace stepcast::schedules {

struct PipelinePlan {
  std::string schedule = "1f1b";  ///< a name of schedules/pipeline/pipelines.h, or custom
  std::uint32_t virtual_stages = 1;
  std::optional<std::uint32_t> micro_batch_group{};  ///< as Shape's; none: the schedule's own
  std::vector<std::string> orders{};            ///< custom: one per stage, as schedules/pipeline/custom.h reads them
  std::optional<Placement> placement{};         ///< of custom alone; none: looping
  std::optional<std::uint32_t> most_in_flight;  ///< refuse an order that holds more; none: any
  std::optional<Partition> partition{};         ///< none: the software's
  bool embedding_as_layer = false;  ///< what comes before the first layer counts as one where all get as many
  bool head_as_layer = false;       ///< what comes after the last one, likewise
};

}  // namespace stepcast::schedules
