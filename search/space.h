#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "scenario/scenario.h"
#include "search/axis.h"
#include "workload/machines.h"

namespace stepcast::search {

/// A value of each axis: what tells a plan from the others of its space.
using Settings = std::array<std::int64_t, kAxes>;

/// The plans that a search looks through: every combination of the values, as far as the GPUs divide into it. The data
/// ranks are what the other sizes leave of the GPUs.
struct Space {
  schedules::Scenario start;                            ///< says all that no axis says
  std::array<std::vector<std::int64_t>, kAxes> values;  ///< of each axis, none empty
};

/// With the usual values of every axis.
Space usual_space(schedules::Scenario start);

/// Sizes of cluster up to the scenario's that the search for the fewest GPUs tries: divisors of its GPUs.
std::vector<std::int64_t> smaller_clusters(const schedules::Scenario& scenario);

/// The values of the first kSharedAxes that go with each other, those of the other axes being the first: the GPUs are a
/// multiple of the ranks that share a sample, and the global batch of a micro-batch on every data rank. Outermost axis
/// first.
std::vector<Settings> shared_settings(const Space& space);

/// Makes `plan`, a copy of space.start or any plan of the space, the one of these settings; its data ranks are what
/// is left.
void set_shared(schedules::Scenario& plan, const Settings& settings);

/// The same with the values of the other axes, of a plan whose shared ones are set.
void set_others(schedules::Scenario& plan, const Settings& settings);

/// Calls `visit` with each combination of the other axes' values. Of an axis that says nothing beside the others'
/// values the first value alone is tried: of ZeRO on one data rank, say, where no state holds less than that.
/// Virtual stages are 1 on one stage, and of a schedule that is made for one number of them.
void each_plan(const Space& space, const Settings& shared, const std::function<void(const Settings&)>& visit);

/// Whether the plan's layers are cut by what they take, where there are stages.
bool is_balanced(const Settings& settings);

/// A whole plan. Throws InputError where its cluster cannot be built and its layers are cut by what they take on it.
schedules::Scenario plan_of(const Space& space, const Settings& settings, workload::Machines& machines);

}  // namespace stepcast::search
