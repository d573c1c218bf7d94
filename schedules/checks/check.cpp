#include "schedules/checks/check.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

#include "models/layers/partition.h"
#include "scenario/scenario.h"
#include "schedules/checks/check_adapters.h"
#include "schedules/checks/check_exchange.h"
#include "schedules/checks/check_layers.h"
#include "schedules/checks/check_pipeline.h"
#include "schedules/checks/check_run.h"
#include "schedules/checks/check_update_in_backward.h"
#include "schedules/checks/too_large.h"
#include "schedules/parallel/expert_nodes.h"
#include "schedules/parallel/inner_groups.h"
#include "schedules/pipeline/pipelines.h"
#include "schedules/pipeline/placement.h"

namespace stepcast::schedules {
namespace {

std::string n(std::int64_t value) { return std::to_string(value); }

std::string no_rate(const Gpu& gpu, Precision precision) {
  std::string known;
  for (const auto& [each, rate] : gpu.peak) known += (known.empty() ? "" : ", ") + std::string(name(each));
  return "GPU " + gpu.name + " has no rate for " + std::string(name(precision)) +
         (known.empty() ? ", its file states no peak at all" : ", expected one of " + known);
}

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
  if (s.recompute == Recompute::by_operator)
    out.push_back({"recompute", "by-operator counts multiplies of a transformer's layers; use none or full"});
  if (s.parallelism.sequence) out.push_back({"parallelism.sequence", "this family has no sequence to share"});
  const std::int64_t t = s.parallelism.tensor;
  if (t == 1) return;
  if (s.training.micro_batch % t != 0)
    out.push_back({"parallelism.tensor",
                   "tensor " + n(t) + " does not divide training.micro_batch " + n(s.training.micro_batch) +
                       ": tensor ranks share the samples up to the first linear layer",
                   {"training.micro_batch"}});
  if (micro_batches > 1)
    out.push_back(
        {"training.micro_batch", n(micro_batches) + " micro-batches with tensor " + n(t) +
                                     ": summing shared layers' gradients over them first is not built; use one"});
  Tensor at = s.model.network.input;
  for (std::size_t i = 0; i < s.model.network.layers.size(); ++i) {
    const NetworkLayer& layer = s.model.network.layers[i];
    const auto features = static_cast<std::int64_t>(at.values());
    if (layer.kind == LayerKind::linear && tensor_method(s) == TensorMethod::reduce_output && features % t != 0)
      out.push_back({"parallelism.tensor_method", "reduce-output: tensor " + n(t) + " does not divide the " +
                                                      n(features) + " features that enter model.network[" +
                                                      n(static_cast<std::int64_t>(i)) + "]"});
    for (std::int64_t turn = 0; turn < layer.repeat; ++turn) {
      const Tensor before = std::exchange(at, output(spelled_out(layer, at, turn), at));
      if (turn > 0 && at == before) break;  // all others are like this one
    }
    if (layer.kind == LayerKind::linear && layer.out % t != 0)
      out.push_back({"parallelism.tensor", "tensor " + n(t) + " does not divide out " + n(layer.out) +
                                               " of model.network[" + n(static_cast<std::int64_t>(i)) + "]"});
    if (layer.kind == LayerKind::branches && has_linear(layer))
      out.push_back({"parallelism.tensor", "tensor " + n(t) + " with a linear layer inside branches, model.network[" +
                                               n(static_cast<std::int64_t>(i)) + "], is not built"});
  }
}

/// What only Megatron's split of a layer goes with.
void check_tensor_method(const Scenario& s, std::vector<Problem>& out) {
  const std::int64_t t = s.parallelism.tensor;
  const TensorMethod method = tensor_method(s);
  if (t == 1 || method == TensorMethod::megatron) return;
  const std::string name = method == TensorMethod::partition_output ? "partition-output" : "reduce-output";
  if (s.model.hidden % t != 0)
    out.push_back({"parallelism.tensor_method",
                   name + ": tensor " + n(t) + " does not divide model.hidden " + n(s.model.hidden)});
  if (method == TensorMethod::reduce_output && kv_copies(s.model, t) > 1)
    out.push_back({"parallelism.tensor_method", name + ": tensor " + n(t) + " of more than model.kv_heads " +
                                                    n(s.model.kv_heads) +
                                                    " is not built; expected megatron or partition-output"});
  if (s.parallelism.sequence)
    out.push_back({"parallelism.tensor_method",
                   name + " leaves whole what parallelism.sequence shares; expected megatron with it"});
  if (is_low_precision(s.training.precision))
    out.push_back({"parallelism.tensor_method", name + " with fp8, mxfp8 or nvfp4 is not built; expected megatron"});
}

/// What tensor parallelism of more than one dimension goes with. Whether the grid is one of the tensor ranks.
bool check_grid(const Scenario& s, std::vector<Problem>& out) {
  const TensorGrid g = grid(s.parallelism);
  const std::string key = "parallelism.tensor_grid";
  const std::string name = n(g.rows) + " x " + n(g.columns) + (g.depth > 1 ? " x " + n(g.depth) : "");
  if (const std::int64_t ranks = std::int64_t{g.rows} * g.columns * g.depth; ranks != s.parallelism.tensor) {
    out.push_back(
        {key, name + " is " + n(ranks) + " ranks, expected those of parallelism.tensor, " + n(s.parallelism.tensor)});
    return false;
  }
  if (!is_grid(g)) return true;
  if (s.model.family != Family::gpt && s.model.family != Family::llama)
    out.push_back({key, name + ": more than one row is built for gpt and llama alone"});
  if (s.model.hidden % g.rows != 0)
    out.push_back({key, n(g.rows) + " rows do not divide model.hidden " + n(s.model.hidden)});
  if (s.training.micro_batch % g.depth != 0)
    out.push_back(
        {key, "a depth of " + n(g.depth) + " does not divide training.micro_batch " + n(s.training.micro_batch)});
  if (s.parallelism.sequence)
    out.push_back(
        {key, name + " with parallelism.sequence is not built; expected one row, or no sequence parallelism"});
  if (is_low_precision(s.training.precision)) out.push_back({key, name + " with fp8, mxfp8 or nvfp4 is not built"});
  if (tensor_method(s) != TensorMethod::megatron)
    out.push_back({key, name + " alternates as megatron does; expected parallelism.tensor_method megatron"});
  if (s.training.balance && g.depth > 1)
    out.push_back({key, name + " with training.balance is not built: depth shares equal samples"});
  return true;
}

void check_context(const Scenario& s, std::vector<Problem>& out) {
  const Model& m = s.model;
  const std::int64_t c = s.parallelism.context, t = s.parallelism.tensor;
  if (c == 1) return;
  if (m.family != Family::gpt && m.family != Family::llama && m.family != Family::moe) {
    out.push_back({"parallelism.context", "context " + n(c) + ": only gpt, llama and moe share a sequence"});
    return;
  }
  // An early and a late part each, and with sequence parallelism the tensor ranks share those.
  const std::int64_t parts = 2 * c * (s.parallelism.sequence ? t : 1);
  if (s.training.sequence % parts != 0)
    out.push_back({"parallelism.context",
                   "training.sequence " + n(s.training.sequence) + " is not a multiple of " + n(parts) +
                       ": two parts for each of context " + n(c) + (parts > 2 * c ? " x tensor " + n(t) : "") +
                       " ranks",
                   {"training.sequence", "parallelism.tensor"}});
  if (attention(s) != Attention::flash)
    out.push_back({"parallelism.context", "context " + n(c) + " needs training.attention flash, found unfused"});
  if (s.parallelism.context_method == ContextMethod::ulysses) {
    for (const auto& [what, heads] : {std::pair{"heads", m.heads}, {"kv_heads", kv_heads(m)}})
      if (heads % (c * t) != 0) {
        out.push_back({"parallelism.context", "ulysses shares heads: context " + n(c) + " x tensor " + n(t) +
                                                  " does not divide model." + what + " " + n(heads)});
        break;
      }
  }
}

void check_loss(const Scenario& s, std::vector<Problem>& out) {
  if (!s.software.fused_linear_cross_entropy) return;
  const char* key = "software.fused_linear_cross_entropy";
  if (!is_decoder(s.model.family)) out.push_back({key, "found true, expected a decoder with it"});
  if (s.parallelism.tensor > 1)
    out.push_back({key, "found true with parallelism.tensor " + n(s.parallelism.tensor) +
                            ", but it takes the whole matrix; expected 1"});
  if (has_loss_block(s)) out.push_back({key, "found true where the loss stands apart from the head; expected false"});
}

void check_documents(const Scenario& s, std::vector<Problem>& out) {
  const std::int64_t length = s.training.document_length;
  if (length == 0) return;
  if (!is_decoder(s.model.family))
    out.push_back({"training.document_length", "only decoders' samples are packed with documents"});
  if (length > s.training.sequence)
    out.push_back({"training.document_length",
                   "document_length " + n(length) + " is more than training.sequence " + n(s.training.sequence)});
}

/// Whether one copy for each node can be told apart. Requires the rest of the experts' plan to be right.
void check_node_limit(const Scenario& s, std::vector<Problem>& out) {
  const ExpertLoad& load = s.training.expert_load;
  if (!load.node_limit || s.parallelism.expert == 1) return;
  const std::string key = "training.experts.node_limit";
  if (s.parallelism.expert_tensor > 1)
    out.push_back({key, "with parallelism.expert_tensor " + n(s.parallelism.expert_tensor) + " is not built"});
  if (load.capacity || load.spread > 0)
    out.push_back({key, "with " + std::string(load.capacity ? "capacity" : "spread") +
                            " is not built; experts get their even share, dropless"});
  std::size_t in_use = s.cluster.node.gpus;
  if (s.cluster.allocation) {
    const std::vector<topology::AllocatedNode>& nodes = s.cluster.allocation->nodes;
    in_use = nodes.front().gpus.size();
    if (std::ranges::any_of(nodes, [&](const topology::AllocatedNode& node) { return node.gpus != nodes[0].gpus; }))
      out.push_back({key, "with nodes of which other GPUs are in use is not built"});
  }
  const Ranks ranks(s.parallelism, static_cast<std::uint32_t>(in_use));
  const std::vector<collectives::Group> nodes = by_node(ranks, expert_groups_beside(ranks, {}).front());
  if (std::ranges::any_of(nodes, [&](const collectives::Group& node) { return node.size() != nodes.front().size(); }))
    out.push_back({key, "expert " + n(s.parallelism.expert) + " has not as many ranks on each of its " +
                            n(static_cast<std::int64_t>(nodes.size())) + " nodes"});
  const std::int64_t each = s.model.experts.count / static_cast<std::int64_t>(nodes.size());
  if (*load.node_limit * each < s.model.experts.active)
    out.push_back({key, n(*load.node_limit) + " nodes of " + n(each) + " experts are fewer than the " +
                            n(s.model.experts.active) + " of model.experts.active"});
}

void check_experts(const Scenario& s, std::vector<Problem>& out) {
  const Experts& experts = s.model.experts;
  const Parallelism& plan = s.parallelism;
  const std::int64_t ranks = plan.expert, sharers = plan.expert_tensor, holders = ranks * sharers,
                     stage = std::int64_t{plan.tensor} * plan.context * plan.data;
  if (s.model.family != Family::moe) {
    if (ranks > 1) out.push_back({"parallelism.expert", "expert " + n(ranks) + ": this model has no experts"});
    if (sharers > 1)
      out.push_back({"parallelism.expert_tensor", "expert_tensor " + n(sharers) + ": this model has no experts"});
    const ExpertLoad& load = s.training.expert_load;
    if (load.capacity || load.spread > 0 || load.node_limit)
      out.push_back({"training.experts", "this model has no experts"});
    return;
  }
  if (experts.active > experts.count)
    out.push_back({"model.experts.active",
                   "found " + n(experts.active) + ", expected at most model.experts.count " + n(experts.count)});
  if (experts.count % ranks != 0)
    out.push_back(
        {"parallelism.expert", "expert " + n(ranks) + " does not divide model.experts.count " + n(experts.count)});
  if (experts.ffn % sharers != 0)
    out.push_back({"parallelism.expert_tensor",
                   "expert_tensor " + n(sharers) + " does not divide model.experts.ffn " + n(experts.ffn)});
  const std::string held = "expert " + n(ranks) + (sharers > 1 ? " x expert_tensor " + n(sharers) : "");
  if (stage % holders != 0)
    out.push_back({"parallelism.expert",
                   held + " does not divide the " + n(stage) + " ranks of a stage: tensor " + n(plan.tensor) +
                       " x context " + n(plan.context) + " x data " + n(plan.data),
                   {"parallelism.expert_tensor", "parallelism.tensor", "parallelism.context", "parallelism.data"}});
  if (s.software.expert_loop && (holders > 1 || s.training.expert_load.capacity))
    out.push_back({"software.expert_loop",
                   "with " + (holders > 1 ? held : std::string("capacity")) +
                       " is not built: every rank has all experts, and no token is dropped; expected none, or "
                       "software.expert_loop false for other code than transformers before 5"});
  if (s.software.expert_loop && s.software.cuda_graphs != CudaGraphs::none)
    out.push_back({"software.cuda_graphs",
                   "with software.expert_loop: no graph has a host that waits; expected none, or "
                   "expert_loop false"});
  if (plan.tensor > 1 && holders % plan.tensor != 0)
    out.push_back(
        {"parallelism.expert", held + " is not a multiple of tensor " + n(plan.tensor) +
                                   ": tensor ranks share out the experts, or with expert_tensor each expert"});
  if (plan.tensor > 1 && !plan.sequence)
    out.push_back({"parallelism.sequence", "false, with experts and tensor " + n(plan.tensor) +
                                               ": every tensor rank would route the same tokens; expected true"});
  if (holders > 1 && s.data_parallel.shard_group)
    out.push_back({"data_parallel.shard_group", "hybrid sharding with " + held + " is not built"});
  if (holders > 1 && s.data_parallel.mode != DataParallelMode::all_reduce)
    out.push_back({"data_parallel.mode", "parameter servers with " + held + " are not built"});
  if (s.training.expert_load.capacity && s.training.expert_load.spread > 0)
    out.push_back({"training.experts.spread", "with a capacity every expert gets as much; expected one of them"});
  if (out.empty()) check_node_limit(s, out);
}

void check_recomputed_modules(const Scenario& s, std::vector<Problem>& out) {
  if (!s.recomputed_modules) return;
  const RecomputedModules& repeated = *s.recomputed_modules;
  const char* key = "recompute.modules";
  if (s.recompute != Recompute::selective)
    out.push_back(
        {key, "found modules beside every or full_layers, which repeat whole layers; expected one of the two"});
  const bool plain = s.model.family != Family::bert && s.model.family != Family::t5 && s.model.family != Family::vit;
  if (!plain && names_more_than_core(repeated)) out.push_back({key, "of this family core_attn alone is built"});
  if (plain && repeated.latent_ups && s.model.latent.kv_rank == 0)
    out.push_back({key, "found mla_up_proj, but the model has no latent attention"});
  if (plain && s.model.experts.count == 0 && (repeated.experts_activation || repeated.experts))
    out.push_back({key, std::string("found ") + (repeated.experts_activation ? "moe_act" : "moe") +
                            ", but the model has no experts"});
  if (plain && repeated.shared_experts && s.model.experts.shared_ffn == 0)
    out.push_back({key, "found shared_experts, but the model has no shared expert"});
}

void check_data_parallel(const Scenario& s, std::vector<Problem>& out) {
  const DataParallelPlan& plan = s.data_parallel;
  if (plan.shard_group && plan.zero == 0)
    out.push_back({"data_parallel.shard_group", "data_parallel.zero 0 shards nothing; expected zero 1, 2 or 3"});
  else if (const std::uint32_t copies = weight_copies(s.parallelism);
           plan.shard_group && copies % *plan.shard_group != 0)
    out.push_back({"data_parallel.shard_group",
                   "shard_group " + n(*plan.shard_group) + " does not divide parallelism.data " +
                       n(s.parallelism.data) +
                       (copies == s.parallelism.data ? "" : " times parallelism.context " + n(s.parallelism.context))});
  if (plan.zero >= 2 && !sums_each_micro_batch(s) && s.offload.optimizer != Tier::gpu)
    out.push_back({"data_parallel.sum_once",
                   "gradients leave the GPU after each micro-batch where the optimizer is off it; expected false"});
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
  if (input.workers > 1 && input.preprocessing == Time{})
    out.push_back({"input.preprocessing", "missing, with input.workers"});
  const CheckpointPlan& checkpoint = s.checkpoint;
  const bool has_time = checkpoint.bandwidth || checkpoint.write_time;
  if (checkpoint.bandwidth && checkpoint.write_time)
    out.push_back({"checkpoint.write_time", "found beside checkpoint.bandwidth, expected one of the two"});
  if (checkpoint.every > 0 && !has_time) out.push_back({"checkpoint.bandwidth", "missing, with checkpoint.every"});
  // Where a whole run is asked for, how often it writes is the answer.
  if (checkpoint.every == 0 && (has_time || checkpoint.asynchronous || checkpoint.snapshot_bandwidth)) {
    if (!s.run.has_target())
      out.push_back({"checkpoint.every", "missing, with other keys of checkpoint"});
    else if (!has_time)
      out.push_back({"checkpoint.bandwidth", "missing, with checkpoint.asynchronous"});
  }
  if (checkpoint.asynchronous && !checkpoint.snapshot_bandwidth)
    out.push_back({"checkpoint.snapshot_bandwidth", "missing, with checkpoint.asynchronous"});
  if (!checkpoint.asynchronous && checkpoint.snapshot_bandwidth)
    out.push_back({"checkpoint.snapshot_bandwidth", "only an asynchronous checkpoint is copied to host memory first"});
}

void check_offload(const Scenario& s, std::vector<Problem>& out) {
  constexpr const char* kNothing =
      "nothing is offloaded to nvme; expected optimizer, parameters or activations there, or the key left out";
  const OffloadPlan& plan = s.offload;
  const bool drives = plan.optimizer == Tier::nvme || plan.parameters == Tier::nvme || plan.activations == Tier::nvme;
  if (drives && !plan.nvme_bandwidth)
    out.push_back({"offload", "nvme needs offload.nvme_bandwidth, that of a node's drives together"});
  if (plan.nvme_bandwidth && !drives) out.push_back({"offload.nvme_bandwidth", kNothing});
  if (plan.nvme_size && !drives) out.push_back({"offload.nvme_size", kNothing});
  if (plan.optimizer != Tier::gpu && s.training.optimizer != Optimizer::adam)
    out.push_back({"offload.optimizer", "only adam's state is moved; expected training.optimizer: adam"});
  if (!plan.activation_layers) return;
  const char* key = "offload.activation_layers";
  if (plan.activations == Tier::gpu)
    out.push_back({key, "found " + n(*plan.activation_layers) + ", but activations stay on the GPU"});
  if (*plan.activation_layers > s.model.layers)
    out.push_back({key, "found " + n(*plan.activation_layers) + ", allowed up to model.layers " + n(s.model.layers)});
  if (s.parallelism.pipeline > 1)
    out.push_back({key, "with parallelism.pipeline " + n(s.parallelism.pipeline) +
                            " is not built; use one stage, or leave it out"});
}

void check_imperfections(const Scenario& s, std::vector<Problem>& out) {
  const Imperfections& bad = s.imperfections;
  if (bad.slow_gpu && *bad.slow_gpu >= s.cluster.gpus)
    out.push_back({"imperfections.slow_gpu",
                   "found " + n(*bad.slow_gpu) + ", expected a GPU from 0 to " + n(s.cluster.gpus - 1)});
  const std::int64_t nodes = nodes_in_use(s.cluster);
  if (bad.slow_node && nodes == 1)
    out.push_back({"imperfections.slow_node", "found " + n(*bad.slow_node) +
                                                  " with one node, whose network cards carry nothing; expected two "
                                                  "nodes or more, or the key left out"});
  else if (bad.slow_node && *bad.slow_node >= nodes)
    out.push_back(
        {"imperfections.slow_node", "found " + n(*bad.slow_node) + ", expected a node from 0 to " + n(nodes - 1)});
  if (bad.gpu_speed < 1 && !bad.slow_gpu)
    out.push_back({"imperfections.slow_gpu", "missing, with imperfections.gpu_speed"});
  if (bad.network_speed < 1 && !bad.slow_node)
    out.push_back({"imperfections.slow_node", "missing, with imperfections.network_speed"});
  if (!s.cluster.other) {
    if (s.training.balance) out.push_back({"training.balance", "by speed needs GPUs of two kinds: cluster.other.gpu"});
    return;
  }
  const OtherGpus& other = *s.cluster.other;
  const std::uint32_t replica = s.parallelism.tensor * s.parallelism.context;
  const std::string context = s.parallelism.context > 1 ? " x context " + n(s.parallelism.context) : "";
  if (other.first == 0 || other.first >= s.cluster.gpus || other.first % replica != 0)
    out.push_back({"cluster.other.first", "found GPU " + n(other.first) + ", expected a multiple of tensor " +
                                              n(s.parallelism.tensor) + context + " inside the cluster's " +
                                              n(s.cluster.gpus)});
  const auto place = [&](Dimension d) { return std::ranges::find(s.parallelism.order, d); };
  if (std::min(place(Dimension::data), place(Dimension::pipeline)) <
      std::max(place(Dimension::tensor), place(Dimension::context)))
    out.push_back({"parallelism.order", "with GPUs of two kinds, data and pipeline come after tensor and context"});
  if (!other.gpu.peak.contains(s.training.precision))
    out.push_back({"training.precision", no_rate(other.gpu, s.training.precision)});
  if (s.training.balance && s.parallelism.pipeline > 1)
    out.push_back({"training.balance", "by speed with pipeline " + n(s.parallelism.pipeline) +
                                           " is not built; use parallelism.layers_per_stage, more layers for stages "
                                           "of faster GPUs"});
}

/// 0: the global batch is no whole number of them on every data rank.
std::int64_t whole_micro_batches(const Scenario& s) {
  const std::int64_t samples_a_round = s.training.micro_batch * s.parallelism.data;
  return s.training.global_batch % samples_a_round == 0 ? s.training.global_batch / samples_a_round : 0;
}

void check_graphs(const Scenario& s, std::vector<Problem>& out) {
  if (any(s.software.cuda_graph_modules) && (s.software.launch_blocking || s.software.cuda_graphs != CudaGraphs::none))
    out.push_back({"software.cuda_graph_modules",
                   "found modules, expected none with software." +
                       std::string(s.software.launch_blocking ? "launch_blocking: kernels of a graph are not launched "
                                                                "one by one"
                                                              : "cuda_graphs: whole layers are captured")});
  if (s.software.launch_blocking && s.software.cuda_graphs != CudaGraphs::none)
    out.push_back(
        {"software.cuda_graphs",
         "found a graph, expected none with software.launch_blocking: kernels of a graph are not launched one "
         "by one"});
}

/// What is wrong with sizes and with how a layer is split. Whether more may be asked.
bool check_split(const Scenario& s, std::vector<Problem>& out) {
  const Parallelism& plan = s.parallelism;
  const std::int64_t per_node = s.cluster.node.gpus;
  if (!s.cluster.allocation && s.cluster.gpus > per_node && s.cluster.gpus % per_node != 0) {
    out.push_back({"cluster.gpus", n(s.cluster.gpus) + " GPUs is no whole number of nodes of " + n(per_node)});
    return false;
  }
  const std::int64_t part = std::int64_t{plan.tensor} * plan.context * plan.pipeline, ranks = part * plan.data;
  if (ranks != s.cluster.gpus) {
    out.push_back(
        {"parallelism.tensor",
         "tensor " + n(plan.tensor) + (plan.context > 1 ? " x context " + n(plan.context) : "") + " x pipeline " +
             n(plan.pipeline) + " x data " + n(plan.data) + " is " + n(ranks) + " GPUs, the cluster has " +
             n(s.cluster.gpus) +
             (s.cluster.gpus % part == 0 ? ": expected data " + n(s.cluster.gpus / part) + ", or none said" : ""),
         {"parallelism.context", "parallelism.pipeline", "parallelism.data", "cluster.gpus", "cluster.nodes"}});
    return false;
  }
  if (!s.cluster.gpu.peak.contains(s.training.precision))
    out.push_back({"training.precision", no_rate(s.cluster.gpu, s.training.precision)});
  const bool low = is_low_precision(s.training.precision);
  if (low && !s.cluster.gpu.peak.contains(Precision::bf16))
    out.push_back({"training.precision", "GPU " + s.cluster.gpu.name + " has no rate for bf16, which runs beside it"});
  if (low && is_network(s.model.family))
    out.push_back(
        {"training.precision", "low precision is built for transformers; a network of other layers has fp16 or bf16"});
  if (!is_eight_bits(s.training.precision) && s.training.eight_bit_parameters)
    out.push_back({"training.eight_bit_parameters", "found true, expected a precision of 8 bits with it"});
  if (s.training.scaling != Scaling::delayed && s.training.precision != Precision::fp8)
    out.push_back(
        {"training.scaling", "found " + std::string(name(s.training.scaling)) + ", expected precision fp8 with it"});
  if (s.training.scaling == Scaling::rowwise && s.training.eight_bit_parameters)
    out.push_back({"training.eight_bit_parameters",
                   "found true, expected false with training.scaling rowwise, whose scales differ by multiply"});
  const std::int64_t bf16_layers = s.training.bf16_layers_at_start + s.training.bf16_layers_at_end;
  const char* bf16_key =
      s.training.bf16_layers_at_start > 0 ? "training.bf16_layers_at_start" : "training.bf16_layers_at_end";
  if (!low && bf16_layers > 0)
    out.push_back({bf16_key, "found " + n(bf16_layers) + ", expected a precision of fp8, mxfp8 or nvfp4 with it"});
  if (low && bf16_layers > 0 && bf16_layers >= s.model.layers)
    out.push_back({bf16_key, n(bf16_layers) + " layers in bf16 leave none in low precision; expected less than " +
                                 n(s.model.layers)});
  check_graphs(s, out);
  if (s.training.global_batch % (s.training.micro_batch * plan.data) != 0)
    out.push_back({"training.global_batch",
                   "global_batch " + n(s.training.global_batch) + " is not a multiple of micro_batch " +
                       n(s.training.micro_batch) + " x data " + n(plan.data),
                   {"training.micro_batch", "parallelism.data"}});
  if (!check_grid(s, out)) return false;
  if (is_network(s.model.family)) {
    check_network(s, whole_micro_batches(s), out);
  } else {
    check_layers(s, out);
    check_tensor_method(s, out);
  }
  check_imperfections(s, out);
  check_offload(s, out);
  if (s.training.predictions > s.training.sequence)
    out.push_back({"training.predictions", "predictions " + n(s.training.predictions) +
                                               " is more than training.sequence " + n(s.training.sequence)});
  check_context(s, out);
  check_experts(s, out);
  if (s.training.frozen_layers >= s.model.layers)
    out.push_back({"training.frozen_layers", "frozen_layers " + n(s.training.frozen_layers) +
                                                 " leaves nothing to train; expected less than model.layers " +
                                                 n(s.model.layers)});
  check_adapters(s, out);
  check_documents(s, out);
  check_loss(s, out);
  if (s.software.fp8_input_store && !is_gated(layer_style(s.model).activation))
    out.push_back({"software.fp8_input_store", "found true, but this model's activation has no gate; expected false"});
  return true;
}

/// All else: what the schedule, the cut and the data-parallel state have a part in is among it.
void check_rest(const Scenario& s, std::vector<Problem>& out) {
  check_pipeline(s, whole_micro_batches(s), out);
  check_recomputed_modules(s, out);
  check_data_parallel(s, out);
  check_update_in_backward(s, out);
  check_exchange(s, out);
  check_stalls(s, out);
  check_run(s, out);
  if (out.empty())
    if (const std::optional<Problem> much = too_much_work(s, false)) out.push_back(*much);
}

}  // namespace

std::vector<Problem> check(const Scenario& s) {
  std::vector<Problem> out;
  if (check_split(s, out)) check_rest(s, out);
  return out;
}

std::vector<Problem> check_layer_split(const Scenario& s) {
  std::vector<Problem> out;
  check_split(s, out);
  return out;
}

std::vector<Problem> check_schedule(const Scenario& s) {
  std::vector<Problem> out;
  check_rest(s, out);
  return out;
}

}  // namespace stepcast::schedules
