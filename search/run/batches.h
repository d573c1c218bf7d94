#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "scenario/scenario.h"
#include "search/run/run_plan.h"
#include "workload/machines.h"

namespace stepcast::search {

/// A number of GPUs that was asked for and has no plan.
struct LeftOutSize {
  std::uint32_t gpus = 0;
  std::string why;
};

/// Whole runs of one scenario with other batches, on as many GPUs or others.
struct BatchPlans {
  std::vector<RunPlan> plans;                   ///< by GPUs, then by batch
  std::vector<LeftOutSize> left_out;            ///< by GPUs
  std::uint32_t refused = 0;                    ///< that do not fit, that the cluster cannot carry, or that never end
  std::size_t least_time = 0, least_money = 0;  ///< their places; of money that is not known GPU-hours stand for it
};

/// Batches of 2^k times the scenario's, up to run.batch_limit, or up to where a batch needs 32 times the
/// samples of a very small one; the scenario's own alone, where it says neither a limit nor a critical batch. Those
/// that the data ranks and micro-batches do not divide are left out. `gpus`: sizes of the cluster beside the
/// scenario's, on which the data ranks are what the plan leaves of them. What is answered does not depend on the
/// threads. Requires run_problems() to be empty.
BatchPlans plan_batches(const schedules::Scenario& scenario, std::span<const std::uint32_t> gpus,
                        workload::Machines& machines);

}  // namespace stepcast::search
