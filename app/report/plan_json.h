#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "app/report/simulated_plan.h"

namespace stepcast::app {

/// Puts "plan", every part with its value, and "plan_by_default", the keys of those that nobody said, into an object.
void put_plan(nlohmann::ordered_json& out, const std::vector<PlanPart>& plan);

/// The parts that put_plan() put into an object, without their words. A key that is no value of a plan is
/// left out; empty where there is no plan.
std::vector<PlanPart> read_plan(const nlohmann::json& object);

}  // namespace stepcast::app
