#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "scenario/problem.h"
#include "scenario/scenario.h"
#include "sim/run_units.h"

namespace stepcast::search {

/// What the best plan has least of. Plans that are equal in it are told apart by their step time, or where that is the
/// objective by their memory, and then by their place in the space. Money and energy are those of one step, on all of
/// the plan's GPUs.
enum class Objective : std::uint8_t { step_time, memory, gpus, money, energy };

/// What a scenario must say besides so that its plans can be told apart by the objective.
std::vector<schedules::Problem> objective_problems(Objective objective, const schedules::Scenario& scenario);

/// What a step draws, and what it costs, in which GPUs run kernels for the share `computing` of the time
/// (search/costs.h). Nothing where the scenario does not say enough.
std::optional<Energy> step_energy(const schedules::Scenario& scenario, Time step, double computing);
std::optional<schedules::Money> step_money(const schedules::Scenario& scenario, Time step, double computing);

/// The share of kernels with which a step draws least, of which `share` surely is kernels.
double least_drawing_share(const schedules::RunPower& power, double share);

}  // namespace stepcast::search
