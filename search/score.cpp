#include "search/score.h"

#include <algorithm>

#include "search/costs.h"
#include "search/step_links.h"

namespace stepcast::search {
namespace {

/// Of money and energy.
std::int64_t billionths(double amount) { return static_cast<std::int64_t>(amount * 1e9); }

/// `computing`: the share of the step in which GPUs run kernels.
Score score_with(Objective objective, const schedules::Scenario& plan, Time step, double computing, Bytes memory,
                 std::uint64_t place) {
  switch (objective) {
    case Objective::step_time:
      return {step.value, memory.value, place};
    case Objective::memory:
      return {memory.value, step.value, place};
    case Objective::gpus:
      return {plan.cluster.gpus, step.value, place};
    case Objective::money:
      return {billionths(step_money(plan, step, computing).value().amount), step.value, place};
    case Objective::energy:
      return {billionths(step_energy(plan, step, computing).value().value), step.value, place};
  }
  return {};
}

}  // namespace

Score score_of(Objective objective, const schedules::Scenario& plan, const schedules::Forecast& forecast, Bytes memory,
               std::uint64_t place) {
  return score_with(objective, plan, forecast.step, computing_share(forecast), memory, place);
}

Score least_score_of(Objective objective, const schedules::Scenario& plan, const LeastStep& least, Bytes memory,
                     std::uint64_t place) {
  // Rounded down, as kernels that traffic slows are a picosecond or so longer or shorter.
  const double share = least.time > Time{} ? std::min(least.kernels / least.time, 1.0) * kSurelyCarried : 0;
  return score_with(objective, plan, least.time, least_drawing_share(plan.run.power, share), memory, place);
}

}  // namespace stepcast::search
