#pragma once

#include <iterator>
#include <string_view>

#include "schedules/results/results.h"

namespace stepcast::schedules {

/// A part of a stage's time, as every report and test knows it. Its unit is the second wherever it is a number.
struct TimePart {
  std::string_view key;    ///< inside "time_s" of JSON and of docs/results.schema.json
  std::string_view title;  ///< of its column in the text report
  Time TimeSplit::*time;
  bool always_shown = false;  ///< the text report has its column even where no time went there
};

/// Every part, in the order in which reports have them. A new part is a member of TimeSplit and a line here.
inline constexpr TimePart kTimeParts[] = {
    {"compute", "compute", &TimeSplit::compute, true},
    {"exposed_tensor", "tensor", &TimeSplit::exposed_tensor, true},
    {"exposed_pipeline", "pipeline", &TimeSplit::exposed_pipeline, true},
    {"exposed_data", "data", &TimeSplit::exposed_data, true},
    {"bubble", "bubble", &TimeSplit::bubble, true},
    {"optimizer", "optimizer", &TimeSplit::optimizer, true},
    {"idle", "idle", &TimeSplit::idle, true},
    {"input", "input", &TimeSplit::input},
    {"checkpoint", "checkpoint", &TimeSplit::checkpoint},
    {"host", "host", &TimeSplit::host},
    {"offload", "offload", &TimeSplit::offload},
    {"compression", "compression", &TimeSplit::compression},
};
static_assert(sizeof(TimeSplit) == std::size(kTimeParts) * sizeof(Time), "a member of TimeSplit has no line here");

}  // namespace stepcast::schedules
