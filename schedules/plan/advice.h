#pragma once

#include <vector>

#include "scenario/scenario.h"
#include "schedules/results/results.h"
#include "workload/machines.h"

namespace stepcast::schedules {

/// What to change where a scenario does not fit: at most three changes that each make it fit on this cluster, those
/// that cost a step least first: mild ones by themselves, or else the fewest and mildest together; other ranks
/// likewise; what is dear where none of these does. Where no single one of that does, all together; where not even
/// these, what comes nearest, and behind it the first of ever larger clusters that will do. All of them were tried:
/// they pass check(), and their memory is computed as a forecast computes it. Requires `over` to be plan()'s. Cost:
/// some dozens of plan(), none of many more passes than the scenario has.
std::vector<Advice> advice(const Scenario& scenario, workload::Machines& machines, const OutOfMemory& over);

}  // namespace stepcast::schedules
