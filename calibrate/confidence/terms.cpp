#include "calibrate/confidence/terms.h"

#include <array>

namespace stepcast::calibrate {
namespace {

using schedules::Gpu;
using schedules::Scenario;

/// Of a cluster with GPUs of two kinds both.
template <class Change>
void each_gpu(Scenario& s, const Change& change) {
  change(s.cluster.gpu);
  if (s.cluster.other) change(s.cluster.other->gpu);
}

void slow_down(schedules::GemmModel& model, double factor) {
  model.mainloop /= factor;
  model.sustained /= factor;
}

void multiplies(Scenario& s, double factor) {
  each_gpu(s, [&](Gpu& gpu) {
    slow_down(gpu.gemm, factor);
    slow_down(gpu.gemm_simt, factor);
    for (auto& [precision, model] : gpu.gemm_of) slow_down(model, factor);
  });
}

void fused_attention(Scenario& s, double factor) {
  each_gpu(s, [&](Gpu& gpu) {
    gpu.attention_forward /= factor;
    gpu.attention_backward /= factor;
  });
}

void memory_bound(Scenario& s, double factor) {
  s.software.elementwise_efficiency /= factor;
  each_gpu(s, [&](Gpu& gpu) {
    for (auto& [kernel, share] : gpu.elementwise) share /= factor;
  });
}

Time times(Time t, double factor) { return from_seconds(to_seconds(t) * factor); }

void launches(Scenario& s, double factor) {
  s.software.kernel_gap = times(s.software.kernel_gap, factor);
  for (const auto each : schedules::kHostTimes) s.software.*each = times(s.software.*each, factor);
  if (std::optional<Time>& each = s.software.host_per_collective) each = times(*each, factor);
  each_gpu(s, [&](Gpu& gpu) { gpu.memory_ramp = times(gpu.memory_ramp, factor); });
}

constexpr std::array kTerms{
    Term{"matrix multiplies", 1.15, "held-out operator tables: 3 to 10% mean error", multiplies},
    Term{"fused attention", 1.25, "operator tables: 3 to 11% mean error", fused_attention},
    Term{"memory-bound kernels", 1.4, "0.57 to 1 of the streaming rate fits some table", memory_bound},
    Term{"launches and gaps", 3, "assumed constants", launches},
    Term{"optimizer", 2, "bytes counted, kernels not measured",
         [](Scenario& s, double factor) { s.software.optimizer_bytes_per_parameter *= factor; }},
    Term{"collectives inside layers", 1.5, "recorded curves: 9 to 17% median error, single machines to 50%",
         [](Scenario& s, double factor) { s.traffic_scale.layers *= factor; }},
    Term{"sends between stages", 1.5, "recorded curves: 9 to 17% median error, single machines to 50%",
         [](Scenario& s, double factor) { s.traffic_scale.stages *= factor; }},
    Term{"gradients and parameters on the wire", 1.5, "recorded curves: 9 to 17% median error, single machines to 50%",
         [](Scenario& s, double factor) { s.traffic_scale.data *= factor; }},
    Term{"slowdown under communication", 3, "assumed constant",
         [](Scenario& s, double factor) { s.software.overlap_slowdown *= factor; }},
};

}  // namespace

std::span<const Term> terms() { return kTerms; }

}  // namespace stepcast::calibrate
