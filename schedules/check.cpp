#include <string>
#include <string_view>
#include <utility>

#include "schedules/pipeline/pipelines.h"
#include "schedules/pipeline/shape.h"
#include "schedules/scenario.h"

namespace stepcast::schedules {
namespace {

std::string n(std::int64_t value) { return std::to_string(value); }

bool has_linear(const NetworkLayer& layer) {
  if (layer.kind == LayerKind::linear) return true;
  for (const std::vector<NetworkLayer>& branch : layer.branches)
    for (const NetworkLayer& inner : branch)
      if (has_linear(inner)) return true;
  return false;
}

void check_network(const Scenario& s, std::int64_t micro_batches, std::vector<Problem>& out) {
  if (s.recompute == Recompute::selective)
    out.push_back({"recompute", "selective repeats the attention core, which this family has not; use none or full"});
  if (s.parallelism.sequence) out.push_back({"parallelism.sequence", "this family has no sequence to share"});
  const std::int64_t t = s.parallelism.tensor;
  if (t == 1) return;
  if (s.training.micro_batch % t != 0)
    out.push_back({"parallelism.tensor", "tensor " + n(t) + " does not divide training.micro_batch " +
                                             n(s.training.micro_batch) +
                                             ": tensor ranks share the samples up to the first linear layer"});
  if (micro_batches > 1)
    out.push_back(
        {"training.micro_batch", n(micro_batches) + " micro-batches with tensor " + n(t) +
                                     ": summing shared layers' gradients over them first is not built; use one"});
  for (std::size_t i = 0; i < s.model.network.layers.size(); ++i) {
    const NetworkLayer& layer = s.model.network.layers[i];
    if (layer.kind == LayerKind::linear && layer.out % t != 0)
      out.push_back({"parallelism.tensor", "tensor " + n(t) + " does not divide out " + n(layer.out) +
                                               " of model.network[" + n(static_cast<std::int64_t>(i)) + "]"});
    if (layer.kind == LayerKind::branches && has_linear(layer))
      out.push_back({"parallelism.tensor", "tensor " + n(t) + " with a linear layer inside branches, model.network[" +
                                               n(static_cast<std::int64_t>(i)) + "], is not built"});
  }
}

void check_model(const Scenario& s, std::vector<Problem>& out) {
  const Model& m = s.model;
  const std::int64_t t = s.parallelism.tensor;
  if (m.hidden % m.heads != 0)
    out.push_back({"model.heads", "hidden " + n(m.hidden) + " is not a multiple of heads " + n(m.heads)});
  if (m.kv_heads > m.heads || m.heads % m.kv_heads != 0)
    out.push_back({"model.kv_heads", "heads " + n(m.heads) + " is not a multiple of kv_heads " + n(m.kv_heads)});
  if (out.empty() && t > 1) {
    const std::pair<std::string_view, std::int64_t> sizes[] = {
        {"heads", m.heads}, {"kv_heads", m.kv_heads}, {"ffn", m.ffn}};
    for (const auto& [what, size] : sizes)
      if (size % t != 0) {
        out.push_back(
            {"parallelism.tensor", "tensor " + n(t) + " does not divide model." + std::string(what) + " " + n(size)});
        break;
      }
    if (s.parallelism.sequence && s.training.sequence % t != 0)
      out.push_back(
          {"parallelism.sequence", "tensor " + n(t) + " does not divide training.sequence " + n(s.training.sequence)});
  }
}

void check_pipeline(const Scenario& s, std::int64_t micro_batches, std::vector<Problem>& out) {
  const std::int64_t p = s.parallelism.pipeline, v = s.pipeline.virtual_stages;
  const PipelineSchedule* schedule = find_pipeline(s.pipeline.schedule);
  if (schedule == nullptr) {
    std::string names;
    for (const PipelineSchedule* known : pipelines()) names += (names.empty() ? "" : ", ") + std::string(known->name);
    out.push_back({"pipeline.schedule", "found '" + s.pipeline.schedule + "', expected one of " + names});
    return;
  }
  if (s.model.layers % (p * v) != 0)
    out.push_back({v > 1 ? "pipeline.virtual_stages" : "parallelism.pipeline",
                   "model.layers " + n(s.model.layers) + " does not split evenly over pipeline " + n(p) +
                       (v > 1 ? " x virtual stages " + n(v) : "")});
  if (micro_batches > 0) {
    const std::string refused = schedule->supports(
        {s.parallelism.pipeline, static_cast<std::uint32_t>(micro_batches), s.pipeline.virtual_stages});
    if (!refused.empty()) out.push_back({v > 1 ? "pipeline.virtual_stages" : "pipeline.schedule", refused});
  }
}

void check_data_parallel(const Scenario& s, std::vector<Problem>& out) {
  const DataParallelPlan& plan = s.data_parallel;
  if (plan.shard_group && plan.zero == 0)
    out.push_back({"data_parallel.shard_group", "data_parallel.zero 0 shards nothing; expected zero 1, 2 or 3"});
  else if (plan.shard_group && s.parallelism.data % *plan.shard_group != 0)
    out.push_back({"data_parallel.shard_group", "shard_group " + n(*plan.shard_group) +
                                                    " does not divide parallelism.data " + n(s.parallelism.data)});
  if (plan.mode != DataParallelMode::all_reduce && plan.zero > 0)
    out.push_back({"data_parallel.mode",
                   "a parameter server holds the whole optimizer state; expected zero 0, found " + n(plan.zero)});
}

void check_stalls(const Scenario& s, std::vector<Problem>& out) {
  const InputPlan& input = s.input;
  if (input.bytes_per_sample && !input.storage_bandwidth)
    out.push_back({"input.storage_bandwidth", "missing, with input.bytes_per_sample"});
  if (input.storage_bandwidth && !input.bytes_per_sample)
    out.push_back({"input.bytes_per_sample", "missing, with input.storage_bandwidth"});
  const CheckpointPlan& checkpoint = s.checkpoint;
  if (checkpoint.every > 0 && !checkpoint.bandwidth)
    out.push_back({"checkpoint.bandwidth", "missing, with checkpoint.every"});
  if (checkpoint.every == 0 && (checkpoint.bandwidth || checkpoint.asynchronous || checkpoint.snapshot_bandwidth))
    out.push_back({"checkpoint.every", "missing, with other keys of checkpoint"});
  if (checkpoint.asynchronous && !checkpoint.snapshot_bandwidth)
    out.push_back({"checkpoint.snapshot_bandwidth", "missing, with checkpoint.asynchronous"});
  if (!checkpoint.asynchronous && checkpoint.snapshot_bandwidth)
    out.push_back({"checkpoint.snapshot_bandwidth", "only an asynchronous checkpoint is copied to host memory first"});
}

}  // namespace

std::vector<Problem> check(const Scenario& s) {
  std::vector<Problem> out;
  const Parallelism& plan = s.parallelism;
  const std::int64_t per_node = s.cluster.node.gpus;
  if (!s.cluster.allocation && s.cluster.gpus > per_node && s.cluster.gpus % per_node != 0) {
    out.push_back({"cluster.gpus", n(s.cluster.gpus) + " GPUs is no whole number of nodes of " + n(per_node)});
    return out;
  }
  const std::int64_t ranks = std::int64_t{plan.tensor} * plan.pipeline * plan.data;
  if (ranks != s.cluster.gpus) {
    out.push_back({"parallelism.tensor", "tensor " + n(plan.tensor) + " x pipeline " + n(plan.pipeline) + " x data " +
                                             n(plan.data) + " is " + n(ranks) + " GPUs, the cluster has " +
                                             n(s.cluster.gpus)});
    return out;
  }
  if (!s.cluster.gpu.peak.contains(s.training.precision))
    out.push_back({"training.precision", "GPU " + s.cluster.gpu.name + " has no rate for this precision"});
  const std::int64_t samples_a_round = s.training.micro_batch * plan.data;
  std::int64_t micro_batches = 0;
  if (s.training.global_batch % samples_a_round != 0)
    out.push_back({"training.global_batch", "global_batch " + n(s.training.global_batch) +
                                                " is not a multiple of micro_batch " + n(s.training.micro_batch) +
                                                " x data " + n(plan.data)});
  else
    micro_batches = s.training.global_batch / samples_a_round;
  if (is_network(s.model.family))
    check_network(s, micro_batches, out);
  else
    check_model(s, out);
  if (s.training.frozen_layers >= s.model.layers)
    out.push_back({"training.frozen_layers", "frozen_layers " + n(s.training.frozen_layers) +
                                                 " leaves nothing to train; expected less than model.layers " +
                                                 n(s.model.layers)});
  check_pipeline(s, micro_batches, out);
  check_data_parallel(s, out);
  check_stalls(s, out);
  return out;
}

}  // namespace stepcast::schedules
