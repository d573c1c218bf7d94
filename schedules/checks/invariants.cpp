#include "schedules/checks/invariants.h"

#include <fmt/format.h>

#include <stdexcept>

namespace stepcast::schedules {

void check_invariants(const Forecast& f) {
  constexpr double kRounding = 1e-6;
  for (const StageReport& stage : f.stages)
    if (stage.time.sum() != f.step)
      throw std::logic_error(fmt::format("the parts of stage {}'s time add up to {} s, the step takes {} s",
                                         stage.stage, to_seconds(stage.time.sum()), to_seconds(f.step)));
  if (f.busiest_link && f.busiest_link->utilisation > 1 + kRounding)
    throw std::logic_error(fmt::format("the link {} carries {:.4f} % of what it can in the step", f.busiest_link->name,
                                       100 * f.busiest_link->utilisation));
}

}  // namespace stepcast::schedules
