#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "scenario/problem.h"
#include "scenario/scenario.h"
#include "schedules/results/results.h"
#include "sim/run_units.h"

namespace stepcast::search {

/// What the best plan has least of. Plans that are equal in it are told apart by their step time, or where that is the
/// objective by their memory, and then by their place in the space. Money and energy are those of one step, on all of
/// the plan's GPUs.
enum class Objective : std::uint8_t { step_time, memory, gpus, money, energy };

/// What a scenario must say besides so that its plans can be told apart by the objective.
std::vector<schedules::Problem> objective_problems(Objective objective, const schedules::Scenario& scenario);

/// The share of a step in which a GPU runs kernels, mean over the stages.
double computing_share(const schedules::Forecast& forecast);

/// What machines draw in a step in which GPUs run kernels for `computing` of the time, and wait in the rest: all GPUs,
/// their nodes where those are known, and the building. Nothing where the power of GPUs is not known.
std::optional<Energy> step_energy(const schedules::Scenario& scenario, Time step, double computing);

/// What a step costs: GPU-hours and energy, each where it has a price. Nothing where neither has, or the energy that
/// has one is not known.
std::optional<schedules::Money> step_money(const schedules::Scenario& scenario, Time step, double computing);

/// The same for a step of which only its least time is known: no more than what it turns out to be.
std::optional<Energy> least_step_energy(const schedules::Scenario& scenario, Time at_least);
std::optional<schedules::Money> least_step_money(const schedules::Scenario& scenario, Time at_least);

}  // namespace stepcast::search
