#include "app/planned_runs.h"

#include <utility>

#include "app/answers.h"
#include "app/asked.h"
#include "app/status_line.h"
#include "calibrate/in_parallel.h"
#include "language/core/visible_text.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

/// "--simulate-failures", or "simulate_failures" where options have no dashes.
std::string failures_option(const std::string& dashes) {
  return dashes.empty() ? "simulate_failures" : dashes + "simulate-failures";
}

/// `scenario`: the whole run's, of whose step the answer is.
void plan_one(PlannedRun& run, const schedules::Scenario& scenario, const PlanOptions& options,
              workload::Machines& machines, const std::string& dashes) {
  const schedules::Forecast& forecast = *run.answer.forecast;
  const std::int64_t target = scenario.run.target_batch.value_or(scenario.training.global_batch);
  const auto of_step = [&](Time step) { return search::plan_run(scenario, forecast, step, target); };
  run.plan = of_step(forecast.step);
  if (run.answer.band) {
    run.low = of_step(run.answer.band->low).times.total;
    run.high = of_step(run.answer.band->high).times.total;
  }
  if (options.simulated > 0) {
    if (!run.plan->failures)
      throw InputError(failures_option(dashes), "nothing is known of failures, expected " +
                                                    run.plan->open.front().keys.front() + " in the scenario");
    run.simulated = search::simulate_failures(*run.plan->failures, run.plan->times.useful,
                                              run.plan->checkpoints->interval, options.simulated, options.seed);
  }
  if (scenario.run.critical_batch || scenario.run.batch_limit || !options.gpus.empty())
    run.batches = search::plan_batches(scenario, options.gpus, machines);
}

}  // namespace

std::vector<PlannedRun> planned_runs(std::vector<language::Question> questions, const PlanOptions& options,
                                     unsigned threads, const std::string& dashes) {
  if (options.simulated == 1) throw InputError(failures_option(dashes), "found 1, expected at least 2 runs");
  const calibrate::MostThreads limit(threads);
  std::vector<schedules::Scenario> scenarios;
  for (language::Question& question : questions) {
    scenarios.push_back(question.scenario);
    question.scenario = search::step_scenario(std::move(question.scenario));
  }
  std::vector<Answer> answers = answer(std::move(questions), {.threads = threads});
  for (const Answer& each : answers)
    if (!each.question.among_others && !each.forecast) throw InputError("", each.question.error);
  add_bands(answers, measured_residuals());
  const StatusLine line("planning");
  workload::Machines machines;
  std::vector<PlannedRun> runs;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    PlannedRun& run = runs.emplace_back(PlannedRun{.answer = std::move(answers[i])});
    if (!run.answer.forecast) continue;
    try {
      plan_one(run, scenarios[i], options, machines, dashes);
    } catch (const InputError& e) {
      run = {.answer = std::move(run.answer)};
      run.answer.question.error = language::visible(run.answer.question.origin + ": " + e.what());
      if (!run.answer.question.among_others) throw InputError("", run.answer.question.error);
    }
  }
  return runs;
}

}  // namespace stepcast::app
