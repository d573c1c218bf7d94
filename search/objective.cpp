#include "search/objective.h"

#include <string>

#include "search/costs.h"

namespace stepcast::search {
namespace {

void need_power(const schedules::RunPower& power, const char* what, std::vector<schedules::Problem>& problems) {
  if (!power.computing) problems.push_back({"run.power.computing", std::string("not given, expected what ") + what});
  if (!power.waiting) problems.push_back({"run.power.waiting", std::string("not given, expected what ") + what});
}

}  // namespace

std::vector<schedules::Problem> objective_problems(Objective objective, const schedules::Scenario& scenario) {
  const schedules::TrainingRun& run = scenario.run;
  std::vector<schedules::Problem> problems;
  if (objective == Objective::energy) need_power(run.power, "a GPU draws, for the objective energy", problems);
  if (objective != Objective::money) return problems;
  if (!run.gpu_hour_price && !run.kilowatt_hour_price)
    problems.push_back({"run.gpu_hour_price", "not given, expected a price such as 2 USD for the objective money"});
  if (run.kilowatt_hour_price) need_power(run.power, "a GPU draws, since kilowatt-hours have a price", problems);
  return problems;
}

std::optional<Energy> step_energy(const schedules::Scenario& scenario, Time step, double computing) {
  const Duration all = duration(step);
  return energy_drawn(scenario.run.power, scenario.cluster, {all * computing, all * (1 - computing), {}}, all);
}

std::optional<schedules::Money> step_money(const schedules::Scenario& scenario, Time step, double computing) {
  const std::optional<Energy> energy = step_energy(scenario, step, computing);
  return money_spent(scenario.run, to_hours(duration(step)) * scenario.cluster.gpus, energy);
}

double least_drawing_share(const schedules::RunPower& power, double share) {
  return power.computing && power.waiting && *power.computing < *power.waiting ? 1 : share;
}

}  // namespace stepcast::search
