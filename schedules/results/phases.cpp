#include "schedules/results/phases.h"

#include <algorithm>

namespace stepcast::schedules {
namespace {

/// Of the stage that spends most on a part.
template <Time TimeSplit::*part>
std::optional<Time> largest(const Forecast& f) {
  Time most{};
  for (const StageReport& stage : f.stages) most = std::max(most, stage.time.*part);
  return most;
}

constexpr Phase kPhases[] = {
    {"layer_forward", [](const Forecast& f) { return f.layer_forward; }, true},
    {"layer_backward", [](const Forecast& f) { return f.layer_backward; }, true},
    {"exposed_data_communication", largest<&TimeSplit::exposed_data>},
    {"bubble", largest<&TimeSplit::bubble>},
};

}  // namespace

std::span<const Phase> phases() { return kPhases; }

const Phase* find_phase(std::string_view name) {
  const auto at = std::ranges::find(kPhases, name, &Phase::name);
  return at == std::end(kPhases) ? nullptr : at;
}

}  // namespace stepcast::schedules
