#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "scenario/checkpoint.h"
#include "scenario/cluster.h"
#include "scenario/data_parallel_plan.h"
#include "scenario/host_link.h"
#include "scenario/imperfections.h"
#include "scenario/input.h"
#include "scenario/measured.h"
#include "scenario/model.h"
#include "scenario/offload.h"
#include "scenario/parallelism.h"
#include "scenario/pipeline_plan.h"
#include "scenario/recomputed_modules.h"
#include "scenario/software.h"
#include "scenario/traffic_scale.h"
#include "scenario/training.h"
#include "scenario/training_run.h"
#include "sim/units.h"
#include "workload/machine.h"

namespace stepcast::schedules {

/// One question: which cluster, which model, which plan. Plain data, as read from a scenario file or a row of a runs
/// table.
struct Scenario {
  std::string name, source, note, confidence;
  ClusterSpec cluster;
  Model model;
  Training training;
  Parallelism parallelism;
  PipelinePlan pipeline;
  DataParallelPlan data_parallel;
  Recompute recompute = Recompute::none;
  std::optional<RecomputedModules> recomputed_modules{};  ///< selective; none: the attention core
  std::uint32_t recompute_group = 1;                      ///< full: layers repeated together from the first one's input
  std::optional<std::uint32_t> recompute_layers{};        ///< full: of each model chunk the first so many; none: all
  InputPlan input;
  CheckpointPlan checkpoint;
  TrainingRun run;
  OffloadPlan offload;
  HostLink host_link;  ///< measured: of a profile
  Imperfections imperfections;
  TrafficScale traffic_scale;
  Software software;
  Measured measured;
};

/// Micro-batches that one data-parallel rank runs in a step. Requires check() to be empty.
inline std::uint32_t micro_batches(const Scenario& s) {
  return static_cast<std::uint32_t>(s.training.global_batch / (s.training.micro_batch * s.parallelism.data));
}

/// Ranks over which ZeRO spreads what it shards.
inline std::uint32_t shard_ranks(const Scenario& s) {
  return s.data_parallel.shard_group.value_or(weight_copies(s.parallelism));
}

inline TensorMethod tensor_method(const Scenario& s) {
  const bool network = is_network(s.model.family);
  return s.parallelism.tensor_method.value_or(network ? TensorMethod::partition_output : TensorMethod::megatron);
}

/// What the scenario says, or else its software.
inline Attention attention(const Scenario& s) { return s.training.attention.value_or(s.software.attention); }
/// What backward runs again where it does not run whole layers again.
inline RecomputedModules recomputed_modules(const Scenario& s, Recompute recompute) {
  if (recompute != Recompute::selective) return {};
  return s.recomputed_modules.value_or(RecomputedModules{.attention_core = true});
}
/// Whether the attention core is among that. A fused one saves no scores that this would drop.
inline bool repeats_attention_core(const Scenario& s, Recompute recompute) {
  return recomputed_modules(s, recompute).attention_core &&
         (attention(s) == Attention::unfused || s.software.recompute_fused_attention);
}
/// Whether tensor ranks share out the input of a layer that runs again. With sequence parallelism each has its part
/// alone; a grid of tensor ranks splits it in ways of its own.
inline bool shares_out_inputs(const Scenario& s) {
  const Parallelism& p = s.parallelism;
  return s.software.partition_activations && s.recompute == Recompute::full && p.tensor > 1 && !p.sequence &&
         !p.tensor_grid;
}
/// Of each gradient that the host updates a parameter by: it sums and reads them in fp32.
inline constexpr double kHostGradientBytes = 4;
/// Of what forward passes keep, the share that leaves the GPU where some of it does.
inline double offloaded_activations(const Scenario& s) {
  if (!s.offload.activation_layers) return 1;
  return static_cast<double>(*s.offload.activation_layers) / static_cast<double>(s.model.layers);
}
/// Which traffic runs beside kernels: none, where the host launches nothing before the last kernel has ended.
inline bool data_overlap(const Scenario& s) {
  return !s.software.launch_blocking &&
         s.data_parallel.overlap.value_or(s.software.data_overlap &&
                                          (s.data_parallel.zero != 1 || s.software.zero_1_overlap));
}
inline TensorOverlap tensor_overlap(const Scenario& s) {
  return s.software.launch_blocking ? TensorOverlap::none : s.software.tensor_overlap;
}
/// Whether tensor traffic of backward runs under the multiplies that make gradients of weights. PyTorch's
/// micro_pipeline_tp runs it part by part beside its own multiply, or else beside nothing.
inline bool hides_under_weight_gradients(const Scenario& s) {
  const TensorOverlap overlap = tensor_overlap(s);
  return overlap == TensorOverlap::backward || (overlap == TensorOverlap::all && !s.software.micro_pipeline);
}
inline bool pipeline_overlap(const Scenario& s) {
  const PipelineOverlap overlap = s.software.pipeline_overlap;
  return !s.software.launch_blocking && (overlap == PipelineOverlap::yes ||
                                         (overlap == PipelineOverlap::interleaved && s.pipeline.schedule != "1f1b"));
}
/// Whether gradients are summed, and a rank keeps its share of them, after each micro-batch (the only one included),
/// and not whole until a sum after the last one.
inline bool sums_each_micro_batch(const Scenario& s) {
  if (s.data_parallel.zero < 2) return false;
  if (micro_batches(s) <= 1) return true;
  const SumOnce usual = s.software.sum_once;
  return !s.data_parallel.sum_once.value_or(usual == SumOnce::yes ||
                                            (usual == SumOnce::in_pipelines && s.parallelism.pipeline > 1));
}
/// Whether ranks get their shard of the summed gradients alone, and not all of them.
inline bool scatters_gradients(const Scenario& s) {
  const int zero = s.data_parallel.zero;
  return zero == 3 || (zero == 2 && !s.software.zero_2_all_reduce) || (zero == 1 && !s.software.zero_1_all_reduce);
}
inline Bytes bucket(const Scenario& s) { return s.data_parallel.bucket.value_or(s.software.bucket); }
inline Precision gradient_precision(const Scenario& s) {
  return s.data_parallel.gradient_precision.value_or(s.software.gradient_precision);
}

/// The node whose network is slow, if there is one.
inline std::optional<topology::SlowNode> slow_node(const Scenario& s) {
  if (!s.imperfections.slow_node) return std::nullopt;
  return topology::SlowNode{*s.imperfections.slow_node, s.imperfections.network_speed};
}

/// The machine that the scenario runs on.
inline workload::MachineSpec machine_of(const Scenario& s) {
  return {.node = s.cluster.node,
          .fabric = s.cluster.fabric,
          .gpus = s.cluster.gpus,
          .allocation = s.cluster.allocation,
          .transport = s.software.transport,
          .slow_node = slow_node(s)};
}

}  // namespace stepcast::schedules
