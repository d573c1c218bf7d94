#include "schedules/results/quantities.h"

#include <algorithm>

namespace stepcast::schedules {
namespace {

template <double FusionSaving::*member>
std::optional<double> of_fusion(const Forecast& f) {
  return f.fusion ? std::optional((*f.fusion).*member) : std::nullopt;
}

std::uint32_t local_steps(const Scenario& s) { return s.data_parallel.local_steps; }

std::optional<double> mean_staleness(const Forecast& f) {
  return f.staleness ? std::optional(f.staleness->mean) : std::nullopt;
}

std::optional<std::uint32_t> most_staleness(const Forecast& f) {
  return f.staleness ? std::optional(f.staleness->most) : std::nullopt;
}

/// Of what a sentence or a table of the text report tells, at this place among the columns of CSV.
constexpr Places told(std::uint8_t csv = Places::kNoColumn, bool failures = false) { return {csv, false, failures}; }
/// The same of what is known before anything is simulated.
constexpr Places planned(std::uint8_t csv, bool failures = false) { return {csv, false, failures, true}; }

constexpr ReportedQuantity kQuantities[] = {
    {"step_time_s", Unit::seconds, "step time", &Forecast::step, told(2, true), "nothing was simulated"},
    {"peak_memory_bytes", Unit::bytes, "memory of the fullest GPU", peak_memory, planned(8, true), "no forecast"},
    {"samples_per_s", Unit::per_second, "samples/s", &Forecast::samples_per_second, told(4)},
    {"tokens_per_s", Unit::per_second, "tokens/s", &Forecast::tokens_per_second, told(3), "samples have no tokens"},
    {"model_flops_per_s_per_gpu", Unit::flops_per_second, "model FLOP/s per GPU", &Forecast::model_flops_per_gpu,
     told(5)},
    {"mfu", Unit::share, "MFU, of the training precision's peak", &Forecast::mfu, told(6)},
    {"skipped_flops", Unit::share, "share of the model FLOPs that kernels of causal attention skip: half of its square",
     &Forecast::skipped_flops, told()},
    {"parameters", Unit::count, "parameters of the model", &Forecast::parameters, planned(7)},
    {"trained_parameters", Unit::count, "parameters that are trained", &Forecast::trained_parameters, told(),
     "all are trained"},
    {"gpus", Unit::count, "GPUs", &Forecast::gpus, planned(1)},
    {"layer_forward_s", Unit::seconds, "forward of one layer, one micro-batch", &Forecast::layer_forward, told(9),
     "no two layers need be alike"},
    {"layer_backward_s", Unit::seconds, "backward of one layer, one micro-batch", &Forecast::layer_backward, told(10),
     "no two layers need be alike"},
    {"fusion.launches_saved", Unit::count, "kernel launches that fusion saves, of one micro-batch on one tensor rank",
     of_fusion<&FusionSaving::launches>, told(), "the scenario does not say what is fused"},
    {"fusion.launches_unfused", Unit::count, "kernel launches without fusion",
     of_fusion<&FusionSaving::launches_unfused>, told()},
    {"fusion.bytes_saved", Unit::bytes, "memory traffic of elementwise kernels that fusion saves",
     of_fusion<&FusionSaving::bytes>, told()},
    {"fusion.bytes_unfused", Unit::bytes, "memory traffic of elementwise kernels without fusion",
     of_fusion<&FusionSaving::bytes_unfused>, told()},
    {"step_time_at_least_s", Unit::seconds,
     "step time if of groups whose ways through the fabric collide unlike all took as long as the fastest, where "
     "step_time_s has for all the slowest's time, or what they take if all begin together",
     &Forecast::at_least, told(), "each has its own time"},
    {"perfect_step_time_s", Unit::seconds, "step time without the scenario's imperfections", &Forecast::perfect, told(),
     "it has none"},
    {"local_steps", Unit::count, "steps between averages of parameters, over which step_time_s is the mean",
     local_steps, told()},
    {"staleness.mean", Unit::count,
     "updates by other workers from when one reads the parameters to when its gradients change them", mean_staleness,
     told(), "all wait for all"},
    {"staleness.most", Unit::count, "the most such updates", most_staleness, told()},
};

}  // namespace

std::span<const ReportedQuantity> quantities() { return kQuantities; }

Bytes peak_memory(const Forecast& f) {
  Bytes most{};
  for (const StageReport& stage : f.stages) most = std::max(most, stage.memory.peak());
  return most;
}

}  // namespace stepcast::schedules
