#pragma once

#include "scenario/scenario.h"
#include "schedules/results/results.h"

namespace stepcast::schedules {

/// The time in which samples for one step can be read and preprocessed; the loader's stages run beside each other, so
/// the slower one: G b / B, or (G / data) t / workers. Source: Mohan et al., "Analyzing and Mitigating Data Stalls in
/// DNN Training", VLDB 2021 (arXiv 2007.06775), sec. 3.
Time input_time(const Scenario& scenario);

/// What one checkpoint takes: `copy` to host memory while all wait, none where it is synchronous; `write` to storage.
struct CheckpointTimes {
  Time copy{}, write{};
};
/// `state`: of the whole model, each element once; `on_gpu`: of the fullest GPU. Requires a bandwidth or a time of
/// writing.
CheckpointTimes checkpoint_times(const CheckpointPlan& plan, Bytes state, Bytes on_gpu);

/// Parameters and optimizer state on the GPU that holds most of them.
Bytes state_of_fullest_gpu(const Forecast& forecast);

/// What one checkpoint stalls a job whose steps take `step` and whose fullest GPU holds `on_gpu` of state. `state`: of
/// the whole model, each element once. Synchronous: state / bandwidth. Asynchronous: the copy to host memory, and what
/// is left of the write when the next is due (Mohan et al., "CheckFreq", FAST 2021, without its overlap of the copy).
Time checkpoint_stall(const CheckpointPlan& plan, Time step, Bytes state, Bytes on_gpu);

/// Adds the stalls to a forecast whose step, parameters and stages are filled. `trained`: parameters with optimizer
/// state.
void add_stalls(Forecast& forecast, const Scenario& scenario, double trained);

}  // namespace stepcast::schedules
