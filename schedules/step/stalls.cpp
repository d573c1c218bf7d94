#include "schedules/step/stalls.h"

#include <algorithm>

#include "schedules/plan/memory.h"
#include "sim/long_time.h"

namespace stepcast::schedules {
namespace {

/// Of the whole model, each element once, however it is sharded or replicated; with adapters, of these alone.
Bytes state(const Forecast& f, const Scenario& s, double trained) {
  const double saved = trains_adapters(s.training) ? trained : f.parameters;
  return {static_cast<std::int64_t>(saved * static_cast<double>(element_bytes(s.training.precision)) +
                                    trained * optimizer_bytes(s))};
}

}  // namespace

Time input_time(const Scenario& s) {
  const InputPlan& input = s.input;
  const auto samples = static_cast<double>(s.training.global_batch);
  double fetch = 0;
  if (input.bytes_per_sample)
    fetch = samples * static_cast<double>(input.bytes_per_sample->value) / input.storage_bandwidth->value;
  const double prepare = samples / s.parallelism.data * to_seconds(input.preprocessing) / input.workers;
  return from_seconds(std::max(fetch, prepare),
                      fetch > prepare ? "reading a step's samples takes more than 106 days at input.storage_bandwidth"
                                      : "preparing a step's samples takes more than 106 days at input.preprocessing");
}

Bytes state_of_fullest_gpu(const Forecast& f) {
  Bytes most{};
  for (const StageReport& stage : f.stages) most = std::max(most, stage.memory.parameters + stage.memory.optimizer);
  return most;
}

CheckpointTimes checkpoint_times(const CheckpointPlan& plan, Bytes state, Bytes on_gpu) {
  CheckpointTimes times;
  times.write = plan.write_time ? *plan.write_time
                                : from_seconds(static_cast<double>(state.value) / plan.bandwidth->value,
                                               "writing a checkpoint takes more than 106 days at checkpoint.bandwidth");
  if (plan.asynchronous)
    times.copy = from_seconds(static_cast<double>(on_gpu.value) / plan.snapshot_bandwidth->value,
                              "copying a checkpoint takes more than 106 days at checkpoint.snapshot_bandwidth");
  return times;
}

Time checkpoint_stall(const CheckpointPlan& plan, Time step, Bytes state, Bytes on_gpu) {
  const CheckpointTimes times = checkpoint_times(plan, state, on_gpu);
  if (!plan.asynchronous) return times.write;
  return times.copy + from_seconds(std::max(0.0, to_seconds(times.write) - to_seconds(step) * plan.every));
}

void add_stalls(Forecast& f, const Scenario& s, double trained) {
  const Time input = std::max(Time{}, input_time(s) - f.step);
  f.step += input;
  f.state = state(f, s, trained);
  Time checkpoint{};
  if (s.checkpoint.every > 0)
    checkpoint = {checkpoint_stall(s.checkpoint, f.step, f.state, state_of_fullest_gpu(f)).value / s.checkpoint.every};
  f.step += checkpoint;
  for (StageReport& stage : f.stages) {
    stage.time.input = input;
    stage.time.checkpoint = checkpoint;
  }
  if (f.critical_path) {
    f.critical_path->input = input;
    f.critical_path->checkpoint = checkpoint;
  }
}

}  // namespace stepcast::schedules
