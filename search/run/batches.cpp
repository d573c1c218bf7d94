#include "search/run/batches.h"

#include <algorithm>
#include <optional>
#include <set>

#include "calibrate/in_parallel.h"
#include "schedules/checks/check.h"
#include "schedules/forecast.h"
#include "search/run/learning.h"
#include "sim/input_error.h"

namespace stepcast::search {
namespace {

using schedules::Scenario;

/// Past a batch that needs so many times the samples of a small one, larger batches gain next to nothing.
constexpr double kMostTimesTheSamples = 32;
constexpr std::int64_t kLargestBatch = 1'000'000'000;

std::vector<std::int64_t> batches(const Scenario& s) {
  if (!s.run.critical_batch && !s.run.batch_limit) return {s.training.global_batch};
  std::int64_t least = s.training.global_batch;
  while (least % 2 == 0) least /= 2;
  std::vector<std::int64_t> all;
  for (std::int64_t batch = least; batch <= kLargestBatch; batch *= 2) {
    if (s.run.batch_limit && batch > *s.run.batch_limit) break;
    if (batch > s.training.global_batch && samples_for_one(s.run, batch) > kMostTimesTheSamples) break;
    all.push_back(batch);
  }
  return all;
}

/// The scenario on so many GPUs with such a batch, all else being as it is; nothing where the sizes of the plan do not
/// go into them, and `why`.
std::optional<Scenario> with(const Scenario& s, std::uint32_t gpus, std::int64_t batch, std::string& why) {
  const schedules::Parallelism& p = s.parallelism;
  const std::uint32_t of_a_copy = p.tensor * p.context * p.pipeline;
  if (gpus % of_a_copy != 0) {
    why = "one copy of the model takes " + std::to_string(of_a_copy) + " of them, which does not divide them";
    return std::nullopt;
  }
  Scenario changed = step_scenario(s);
  changed.cluster.gpus = gpus;
  changed.parallelism.data = gpus / of_a_copy;
  changed.training.global_batch = batch;
  const std::int64_t samples = changed.training.micro_batch * changed.parallelism.data;
  if (batch % samples != 0) {
    why = "no batch that was tried is a multiple of " + std::to_string(samples) + ", a micro-batch of each of " +
          std::to_string(changed.parallelism.data) + (changed.parallelism.data == 1 ? " data rank" : " data ranks");
    return std::nullopt;
  }
  if (const std::vector<schedules::Problem> problems = schedules::check(changed); !problems.empty()) {
    why = std::string(problems.front().key) + ": " + problems.front().text;
    return std::nullopt;
  }
  return changed;
}

}  // namespace

BatchPlans plan_batches(const Scenario& scenario, std::span<const std::uint32_t> gpus, workload::Machines& machines) {
  const std::int64_t target_batch = scenario.run.target_batch.value_or(scenario.training.global_batch);
  std::vector<Scenario> tried;
  BatchPlans found;
  std::set<std::uint32_t> sizes(gpus.begin(), gpus.end());
  sizes.insert(scenario.cluster.gpus);
  for (const std::uint32_t size : sizes) {
    std::string why;
    const std::size_t before = tried.size();
    for (const std::int64_t batch : batches(scenario))
      if (auto changed = with(scenario, size, batch, why)) tried.push_back(std::move(*changed));
    if (tried.size() == before) found.left_out.push_back({size, why});
  }
  std::vector<std::optional<RunPlan>> plans(tried.size());
  calibrate::in_parallel(tried.size(), [&](std::size_t i) {
    try {
      const schedules::Forecast forecast = schedules::forecast(tried[i], machines, {.advise = false, .compare = false});
      if (forecast.out_of_memory) return;
      Scenario whole = tried[i];
      whole.checkpoint = scenario.checkpoint;
      plans[i] = plan_run(whole, forecast, forecast.step, target_batch);
    } catch (const InputError&) {  // the cluster cannot carry it, or failures never let it end
    }
  });
  for (std::optional<RunPlan>& plan : plans) {
    if (plan)
      found.plans.push_back(std::move(*plan));
    else
      ++found.refused;
  }
  for (const Scenario& each : tried) {
    const std::uint32_t size = each.cluster.gpus;
    if (std::ranges::find(found.plans, size, &RunPlan::gpus) == found.plans.end() &&
        std::ranges::find(found.left_out, size, &LeftOutSize::gpus) == found.left_out.end())
      found.left_out.push_back({size, "its plans do not fit, or the cluster cannot carry them"});
  }
  std::ranges::sort(found.left_out, {}, &LeftOutSize::gpus);
  const auto cost = [](const RunPlan& plan) { return plan.money ? plan.money->amount : plan.gpu_hours(); };
  for (std::size_t i = 1; i < found.plans.size(); ++i) {
    if (found.plans[i].times.total < found.plans[found.least_time].times.total) found.least_time = i;
    if (cost(found.plans[i]) < cost(found.plans[found.least_money])) found.least_money = i;
  }
  return found;
}

}  // namespace stepcast::search
