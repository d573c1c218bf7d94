#pragma once

#include <optional>
#include <span>

namespace stepcast::calibrate {

/// A plan that ran, beside its forecast.
struct TriedPlan {
  double measured_s = 0, predicted_s = 0;
  bool fits = true;  ///< as predicted
};

/// What is lost by choosing among plans of one model on one cluster by their forecasts: the measured time of the choice
/// over that of the measured best, minus 1.
struct Regret {
  double first = 0;         ///< the choice is the plan that is predicted to be the fastest of those predicted to fit
  double best_of_five = 0;  ///< the choice is the measured best of the first five
};

/// Nothing for fewer than two plans. Of plans with equal forecasts the first comes first.
std::optional<Regret> regret(std::span<const TriedPlan> plans);

}  // namespace stepcast::calibrate
