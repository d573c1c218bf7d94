#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scenario/problem.h"
#include "scenario/scenario.h"
#include "schedules/results/results.h"
#include "search/run/failures.h"

namespace stepcast::search {

/// When a run checkpoints, and why then.
struct Checkpointing {
  Duration copy, write;  ///< of one, as FailureModel has them
  Duration interval;     ///< of work between two
  double steps = 0;      ///< the same in steps
  bool asked = false;    ///< the scenario says which interval; else it is the best one, in whole steps
  std::optional<Duration> best, young, daly;  ///< intervals of work; none: nothing is known of failures
};

/// What cannot be said, what would have to be known, and what it would come to.
struct OpenQuestion {
  std::string about;              ///< "money"
  std::vector<std::string> keys;  ///< of the scenario: all of them are needed
  std::string worth;              ///< "each 1 of a currency an hour and GPU makes 811008 of it"; may be empty
};

/// A whole run: what it takes and what it costs. What is absent is in the open questions.
struct RunPlan {
  std::uint32_t gpus = 0, nodes = 0;
  std::int64_t batch = 0;  ///< samples of a step
  double samples = 0;      ///< to the target
  std::optional<double> tokens;
  double steps = 0;
  Time step{};                           ///< without checkpoints
  double useful_samples_per_second = 0;  ///< of steps without failures, each sample weighed as one of a small batch
  RunTimes times{};                      ///< of failures and checkpoints what is known
  std::optional<FailureModel> failures;
  std::optional<Checkpointing> checkpoints;
  std::optional<Energy> energy;
  std::optional<schedules::Money> money;
  std::vector<OpenQuestion> open;

  double gpu_hours() const { return to_hours(times.total) * gpus; }
};

/// What a scenario must say besides so that a whole run of it can be planned.
std::vector<schedules::Problem> run_problems(const schedules::Scenario& scenario);

/// The scenario whose step a run is made of: checkpoints are the run's.
schedules::Scenario step_scenario(schedules::Scenario scenario);

/// Samples of a run's target as the scenario states it. Requires run_problems() to be empty.
double stated_samples(const schedules::Scenario& scenario);

/// Plans a run whose steps take `step` and spend their time as `forecast`, of step_scenario(), says. `target_batch`:
/// samples of a step with which the stated samples are enough. Requires run_problems() to be empty. Throws InputError
/// where failures come so often that the run does not end.
RunPlan plan_run(const schedules::Scenario& scenario, const schedules::Forecast& forecast, Time step,
                 std::int64_t target_batch);

}  // namespace stepcast::search
