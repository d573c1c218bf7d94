#include "search/run/run_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "schedules/step/stalls.h"
#include "search/costs.h"
#include "search/run/learning.h"
#include "sim/input_error.h"
#include "sim/units_text.h"

namespace stepcast::search {
namespace {

using schedules::RunPower;
using schedules::Scenario;
using schedules::StageReport;

/// Longer than that nobody waits, and a sum of times that is infinite is longer too.
constexpr Duration kLongest = days(365'000);

double tokens_of_a_sample(const Scenario& s) {
  return static_cast<double>(s.training.sequence + s.training.decoder_sequence);
}

/// What the keys say of failures; nothing where they say too little.
std::optional<FailureModel> failure_model(const Scenario& s, const RunPlan& plan, const Checkpointing& checkpoints) {
  const schedules::RunFailures& failures = s.run.failures;
  if (!(failures.gpu_mtbf || failures.node_mtbf) || !failures.restart) return std::nullopt;
  const Parts gpus{static_cast<double>(plan.gpus), failures.gpu_mtbf.value_or(Duration{})},
      nodes{static_cast<double>(plan.nodes), failures.node_mtbf.value_or(Duration{})};
  return FailureModel{mean_between_failures(gpus, nodes), checkpoints.copy, checkpoints.write, *failures.restart};
}

/// What a checkpoint takes; nothing where the scenario does not say.
std::optional<Checkpointing> checkpoint_costs(const Scenario& s, const schedules::Forecast& forecast) {
  if (!s.checkpoint.bandwidth && !s.checkpoint.write_time) return std::nullopt;
  const schedules::CheckpointTimes times =
      schedules::checkpoint_times(s.checkpoint, forecast.state, schedules::state_of_fullest_gpu(forecast));
  Checkpointing costs{};
  // A synchronous write is a copy that goes to storage at once.
  costs.copy = duration(s.checkpoint.asynchronous ? times.copy : times.write);
  if (s.checkpoint.asynchronous) costs.write = duration(times.write);
  return costs;
}

void choose_interval(const Scenario& s, const RunPlan& plan, Checkpointing& checkpoints) {
  if (plan.failures) {
    checkpoints.best = best_interval(*plan.failures);
    checkpoints.young = young_interval(*plan.failures);
    checkpoints.daly = daly_interval(*plan.failures);
  }
  const Duration step = duration(plan.step);
  checkpoints.asked = s.checkpoint.every > 0;
  checkpoints.steps = checkpoints.asked ? s.checkpoint.every : std::max(1.0, std::round(*checkpoints.best / step));
  checkpoints.interval = step * checkpoints.steps;
}

/// Fills times, failures and checkpoints.
void spend_time(const Scenario& s, const schedules::Forecast& forecast, RunPlan& plan) {
  const Duration work = duration(plan.step) * plan.steps;
  plan.times = {.total = work, .useful = work};
  std::optional<Checkpointing> checkpoints = checkpoint_costs(s, forecast);
  if (!checkpoints) return;
  plan.failures = failure_model(s, plan, *checkpoints);
  if (!plan.failures && s.checkpoint.every == 0) return;
  choose_interval(s, plan, *checkpoints);
  plan.checkpoints = checkpoints;
  plan.times = plan.failures
                   ? expected_times(*plan.failures, work, checkpoints->interval)
                   : times_without_failures(checkpoints->copy, checkpoints->write, work, checkpoints->interval);
}

std::optional<Energy> energy_of(const Scenario& s, const RunPlan& plan, double computing) {
  const Duration steps = plan.times.useful + plan.times.lost;
  const GpuTime time{steps * computing, steps * (1 - computing) + plan.times.checkpoints, plan.times.restarts};
  return energy_drawn(s.run.power, s.cluster, time, plan.times.total);
}

OpenQuestion about_failures(const Scenario& s, const RunPlan& plan) {
  OpenQuestion open{.about = "failures", .keys = {}, .worth = {}};
  const schedules::RunFailures& failures = s.run.failures;
  if (!failures.gpu_mtbf && !failures.node_mtbf) open.keys.emplace_back("run.failures.gpu_mtbf");
  if (!failures.restart) open.keys.emplace_back("run.failures.restart");
  if (!s.checkpoint.bandwidth && !s.checkpoint.write_time) open.keys.emplace_back("checkpoint.bandwidth");
  open.worth = "each 1% of the time that they take makes " + text(plan.times.total * (1 / 0.99 - 1)) + " more";
  return open;
}

OpenQuestion about_energy(const RunPower& power, const RunPlan& plan) {
  OpenQuestion open{.about = "energy", .keys = {}, .worth = {}};
  if (!power.computing) open.keys.emplace_back("run.power.computing");
  if (!power.waiting) open.keys.emplace_back("run.power.waiting");
  if (!power.idle && plan.times.restarts.value > 0) open.keys.emplace_back("run.power.idle");
  open.worth = "each 100 W that a GPU draws in the mean make " + text(Power{100} * hours(plan.gpu_hours()));
  return open;
}

OpenQuestion about_money(const schedules::TrainingRun& run, const RunPlan& plan) {
  constexpr double kNoFractionFrom = 1000;
  OpenQuestion open = about_energy(run.power, plan);
  open.about = "money";
  open.worth = "energy has a price, but is not known";
  if (run.kilowatt_hour_price) return open;
  open.keys = {"run.gpu_hour_price"};
  open.worth = fmt::format("each 1 that a GPU costs an hour, in any currency, makes {:.{}f}", plan.gpu_hours(),
                           plan.gpu_hours() < kNoFractionFrom ? 1 : 0);
  return open;
}

OpenQuestion about_batches() {
  return {.about = "batch",
          .keys = {"run.critical_batch or run.batch_limit"},
          .worth = "which batch is best depends on how many more samples a larger one needs"};
}

}  // namespace

std::vector<schedules::Problem> run_problems(const Scenario& s) {
  if (s.run.tokens && (s.run.samples || s.run.epochs))
    return {{"run.tokens", "found beside run.samples or run.epochs, expected one of the three: where the run ends"}};
  if (s.run.samples && s.run.epochs)
    return {{"run.samples", "found beside run.epochs, expected one of the two: where the run ends"}};
  if (s.run.has_target()) return {};
  return {{"run.tokens", "missing, expected one of run.tokens, run.samples and run.epochs: where the run ends"}};
}

Scenario step_scenario(Scenario scenario) {
  scenario.checkpoint = {};
  return scenario;
}

double stated_samples(const Scenario& s) {
  if (s.run.tokens) return *s.run.tokens / tokens_of_a_sample(s);
  if (s.run.samples) return *s.run.samples;
  return *s.run.epochs * *s.run.dataset_samples;
}

RunPlan plan_run(const Scenario& s, const schedules::Forecast& forecast, Time step, std::int64_t target_batch) {
  RunPlan plan;
  plan.gpus = s.cluster.gpus;
  plan.nodes = nodes_filled(s.cluster);
  plan.batch = s.training.global_batch;
  plan.samples = samples_to_target(s.run, stated_samples(s), target_batch, plan.batch);
  if (schedules::has_tokens(s.model.family)) plan.tokens = plan.samples * tokens_of_a_sample(s);
  plan.steps = std::ceil(plan.samples / static_cast<double>(plan.batch));
  plan.step = step;
  plan.useful_samples_per_second =
      static_cast<double>(plan.batch) / to_seconds(step) / samples_for_one(s.run, plan.batch);
  spend_time(s, forecast, plan);
  if (!(plan.times.total < kLongest))
    throw InputError("run", plan.failures ? "it would take more than a thousand years: a failure comes every " +
                                                fmt::format("{:.3g} s", plan.failures->mean_between.value) +
                                                " in the mean, hardly a checkpoint is ever written"
                                          : "it would take more than a thousand years");
  plan.energy = energy_of(s, plan, computing_share(forecast));
  plan.money = money_spent(s.run, plan.gpu_hours(), plan.energy);
  if (!plan.failures) plan.open.push_back(about_failures(s, plan));
  if (!plan.energy) plan.open.push_back(about_energy(s.run.power, plan));
  if (!plan.money) plan.open.push_back(about_money(s.run, plan));
  if (!s.run.critical_batch && !s.run.batch_limit) plan.open.push_back(about_batches());
  return plan;
}

}  // namespace stepcast::search
