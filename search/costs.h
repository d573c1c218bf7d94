#pragma once

#include <cstdint>
#include <optional>

#include "scenario/cluster.h"
#include "scenario/training_run.h"
#include "schedules/results/results.h"
#include "sim/run_units.h"

namespace stepcast::search {

/// The share of a step in which a GPU runs kernels, mean over the stages.
double computing_share(const schedules::Forecast& forecast);

/// What the GPUs of a job do with its time, each of them.
struct GpuTime {
  Duration computing{};  ///< kernels run
  Duration waiting{};    ///< in the rest of a step, and during checkpoints
  Duration idle{};       ///< while the job is being restarted
};

/// What machines draw in `total`: the GPUs, their nodes where those are known, and the building. Nothing where the
/// power of GPUs in something that they do is not known.
std::optional<Energy> energy_drawn(const schedules::RunPower& power, const schedules::ClusterSpec& cluster,
                                   const GpuTime& time, Duration total);

/// What that costs: GPU-hours and energy, each where it has a price. Nothing where neither has, or the energy that has
/// one is not known.
std::optional<schedules::Money> money_spent(const schedules::TrainingRun& run, double gpu_hours,
                                            const std::optional<Energy>& energy);

}  // namespace stepcast::search
