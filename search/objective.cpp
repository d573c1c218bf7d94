#include "search/objective.h"

#include <string>

namespace stepcast::search {
namespace {

using schedules::Money;
using schedules::Scenario;

std::uint32_t nodes_of(const schedules::ClusterSpec& cluster) {
  return (cluster.gpus + cluster.node.gpus - 1) / cluster.node.gpus;
}

/// The share of kernels with which a GPU draws least.
double least_drawing(const schedules::RunPower& power) {
  return power.computing && power.waiting && *power.computing < *power.waiting ? 1 : 0;
}

void need_power(const schedules::RunPower& power, const char* what, std::vector<schedules::Problem>& problems) {
  if (!power.computing) problems.push_back({"run.power.computing", std::string("not given, expected what ") + what});
  if (!power.waiting) problems.push_back({"run.power.waiting", std::string("not given, expected what ") + what});
}

}  // namespace

std::vector<schedules::Problem> objective_problems(Objective objective, const Scenario& scenario) {
  const schedules::TrainingRun& run = scenario.run;
  std::vector<schedules::Problem> problems;
  if (objective == Objective::energy) need_power(run.power, "a GPU draws, for the objective energy", problems);
  if (objective != Objective::money) return problems;
  if (!run.gpu_hour_price && !run.kilowatt_hour_price)
    problems.push_back({"run.gpu_hour_price", "not given, expected a price such as 2 USD for the objective money"});
  if (run.kilowatt_hour_price) need_power(run.power, "a GPU draws, since kilowatt-hours have a price", problems);
  return problems;
}

double computing_share(const schedules::Forecast& forecast) {
  Time kernels{}, all{};
  for (const schedules::StageReport& stage : forecast.stages) {
    kernels += stage.time.compute + stage.time.optimizer + stage.time.compression;
    all += stage.time.sum();
  }
  return kernels / all;
}

std::optional<Energy> step_energy(const Scenario& scenario, Time step, double computing) {
  const schedules::RunPower& power = scenario.run.power;
  if (!power.computing || !power.waiting) return std::nullopt;
  Energy all =
      (*power.computing * computing + *power.waiting * (1 - computing)) * duration(step) * scenario.cluster.gpus;
  if (power.host) all += *power.host * duration(step) * nodes_of(scenario.cluster);
  return all * power.usage_effectiveness.value_or(1);
}

std::optional<Money> step_money(const Scenario& scenario, Time step, double computing) {
  const schedules::TrainingRun& run = scenario.run;
  if (!run.gpu_hour_price && !run.kilowatt_hour_price) return std::nullopt;
  Money money = run.gpu_hour_price.value_or(Money{0, {}});
  money.amount *= to_hours(duration(step)) * scenario.cluster.gpus;
  if (run.kilowatt_hour_price) {
    const std::optional<Energy> energy = step_energy(scenario, step, computing);
    if (!energy) return std::nullopt;
    money.amount += run.kilowatt_hour_price->amount * to_kilowatt_hours(*energy);
    money.currency = run.kilowatt_hour_price->currency;
  }
  return money;
}

std::optional<Energy> least_step_energy(const Scenario& scenario, Time at_least) {
  return step_energy(scenario, at_least, least_drawing(scenario.run.power));
}

std::optional<Money> least_step_money(const Scenario& scenario, Time at_least) {
  return step_money(scenario, at_least, least_drawing(scenario.run.power));
}

}  // namespace stepcast::search
