#include "calibrate/confidence/regret.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace stepcast::calibrate {

std::optional<Regret> regret(std::span<const TriedPlan> plans) {
  constexpr std::size_t kTried = 5;
  if (plans.size() < 2) return std::nullopt;
  const double best = std::ranges::min(plans, {}, &TriedPlan::measured_s).measured_s;
  std::vector<TriedPlan> order(plans.begin(), plans.end());
  std::ranges::stable_sort(order, {}, [](const TriedPlan& plan) { return std::pair(!plan.fits, plan.predicted_s); });
  const std::span<const TriedPlan> tried = std::span(order).first(std::min(order.size(), kTried));
  return Regret{order.front().measured_s / best - 1,
                std::ranges::min(tried, {}, &TriedPlan::measured_s).measured_s / best - 1};
}

}  // namespace stepcast::calibrate
