#pragma once

#include <cstdint>
#include <iterator>
#include <string_view>

#include "schedules/results/results.h"

namespace stepcast::schedules {

/// What parts have in common, for whoever sums them up.
enum class PartGroup : std::uint8_t { compute, communication, waiting };

/// A part of a stage's time, as every report and test knows it. Its unit is the second wherever it is a number.
struct TimePart {
  std::string_view key;    ///< inside "time_s" of JSON and of docs/results.schema.json
  std::string_view title;  ///< of its column in the text report
  Time TimeSplit::*time;
  PartGroup group;
  bool always_shown = false;  ///< the text report has its column even where no time went there
};

/// Every part, in the order in which reports have them. A new part is a member of TimeSplit and a line here.
inline constexpr TimePart kTimeParts[] = {
    {"compute", "compute", &TimeSplit::compute, PartGroup::compute, true},
    {"exposed_tensor", "tensor", &TimeSplit::exposed_tensor, PartGroup::communication, true},
    {"exposed_pipeline", "pipeline", &TimeSplit::exposed_pipeline, PartGroup::communication, true},
    {"exposed_data", "data", &TimeSplit::exposed_data, PartGroup::communication, true},
    {"bubble", "bubble", &TimeSplit::bubble, PartGroup::waiting, true},
    {"optimizer", "optimizer", &TimeSplit::optimizer, PartGroup::compute, true},
    {"idle", "idle", &TimeSplit::idle, PartGroup::waiting, true},
    {"input", "input", &TimeSplit::input, PartGroup::waiting},
    {"checkpoint", "checkpoint", &TimeSplit::checkpoint, PartGroup::waiting},
    {"host", "host", &TimeSplit::host, PartGroup::waiting},
    {"offload", "offload", &TimeSplit::offload, PartGroup::communication},
    {"compression", "compression", &TimeSplit::compression, PartGroup::compute},
};

/// One of several that a part is made of.
struct TimeDetail {
  std::string_view key;    ///< inside "time_details_s" of JSON
  std::string_view title;  ///< in a comparison
  Time TimeSplit::*part;   ///< that it is of
  Time TimeSplit::*time;
};

/// Every detail; those of one part stand together. A new one is a member of TimeSplit and a line here.
inline constexpr TimeDetail kTimeDetails[] = {
    {"compute_multiplies", "matrix multiplies", &TimeSplit::compute, &TimeSplit::multiplies},
    {"compute_attention", "fused attention", &TimeSplit::compute, &TimeSplit::attention},
    {"compute_memory_bound", "memory-bound kernels", &TimeSplit::compute, &TimeSplit::memory_bound},
    {"exposed_among_tensor", "tensor ranks", &TimeSplit::exposed_tensor, &TimeSplit::among_tensor},
    {"exposed_among_context", "context ranks", &TimeSplit::exposed_tensor, &TimeSplit::among_context},
    {"exposed_among_experts", "expert ranks", &TimeSplit::exposed_tensor, &TimeSplit::among_experts},
    {"exposed_gradients", "gradients of data ranks", &TimeSplit::exposed_data, &TimeSplit::gradients},
    {"exposed_parameters", "parameters of data ranks", &TimeSplit::exposed_data, &TimeSplit::parameters},
};
static_assert(sizeof(TimeSplit) == (std::size(kTimeParts) + std::size(kTimeDetails)) * sizeof(Time),
              "a member of TimeSplit has no line here");

}  // namespace stepcast::schedules
