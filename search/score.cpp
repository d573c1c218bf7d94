#include "search/score.h"

#include "search/costs.h"

namespace stepcast::search {
namespace {

/// Of money and energy.
std::int64_t billionths(double amount) { return static_cast<std::int64_t>(amount * 1e9); }

}  // namespace

Score score_of(Objective objective, const schedules::Scenario& plan, Time step, Bytes memory,
               const schedules::Forecast* forecast, std::uint64_t place) {
  const auto computing = [&] {
    return forecast != nullptr ? computing_share(*forecast) : least_drawing_share(plan.run.power);
  };
  switch (objective) {
    case Objective::step_time:
      return {step.value, memory.value, place};
    case Objective::memory:
      return {memory.value, step.value, place};
    case Objective::gpus:
      return {plan.cluster.gpus, step.value, place};
    case Objective::money:
      return {billionths(step_money(plan, step, computing()).value().amount), step.value, place};
    case Objective::energy:
      return {billionths(step_energy(plan, step, computing()).value().value), step.value, place};
  }
  return {};
}

}  // namespace stepcast::search
