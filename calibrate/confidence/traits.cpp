#include "calibrate/confidence/traits.h"

#include <algorithm>

namespace stepcast::calibrate {
namespace {

using namespace schedules;

std::string family_word(Family family) {
  switch (family) {
    case Family::gpt:
      return "gpt";
    case Family::llama:
      return "llama";
    case Family::moe:
      return "moe";
    case Family::bert:
      return "bert";
    case Family::t5:
      return "t5";
    case Family::vit:
      return "vit";
    case Family::cnn:
      return "cnn";
    case Family::mlp:
      return "mlp";
    case Family::operators:
      return "operators";
  }
  return "";
}

/// fp16 and bf16 run at one rate.
std::string precision_word(Precision precision) {
  switch (precision) {
    case Precision::fp32:
      return "fp32";
    case Precision::tf32:
      return "tf32";
    case Precision::fp16:
    case Precision::bf16:
      return "16-bit";
    case Precision::fp8:
      return "fp8";
    case Precision::mxfp8:
      return "mxfp8";
    case Precision::nvfp4:
      return "nvfp4";
  }
  return "";
}

bool has_nodes_joined(const ClusterSpec& cluster) { return cluster.node.nic && cluster.gpus > cluster.node.gpus; }

}  // namespace

Traits traits(const Scenario& s) {
  Traits out{s.cluster.gpu.name, s.software.name, family_word(s.model.family), {}, {}};
  const auto kind = [&](bool has, const std::string& word) {
    if (has) out.kinds.push_back(word);
  };
  const Parallelism& p = s.parallelism;
  kind(true, precision_word(s.training.precision));
  kind(true, "node " + (s.cluster.node.name.empty() ? std::string("without a name") : s.cluster.node.name));
  kind(s.cluster.other.has_value(), "GPUs of two kinds");
  kind(p.tensor > 1, "tensor parallel");
  kind(p.tensor > 1 && p.tensor_method && *p.tensor_method != TensorMethod::megatron, "linear layers split one by one");
  kind(is_grid(grid(p)), "grid of tensor ranks");
  kind(p.sequence, "sequence parallel");
  kind(p.sequence && p.tensor > 1 && s.software.tensor_overlap == TensorOverlap::all, "tensor traffic in parts");
  kind(p.context > 1, "context parallel");
  kind(p.expert > 1, "expert parallel");
  kind(p.expert_tensor > 1, "experts split over ranks");
  kind(p.pipeline > 1, "pipeline " + s.pipeline.schedule);
  kind(s.data_parallel.zero > 0, "ZeRO " + std::to_string(s.data_parallel.zero));
  kind(s.data_parallel.shard_group.has_value(), "hybrid sharding");
  kind(s.data_parallel.mode != DataParallelMode::all_reduce, "parameter server");
  const bool others = s.recomputed_modules && (s.recomputed_modules->latent_ups || s.recomputed_modules->feed_forward ||
                                               s.recomputed_modules->experts_activation);  // than where none is named
  kind(s.recompute == Recompute::selective && !others, "selective recomputation");
  kind(others, "recomputation of named modules");
  kind(s.recompute == Recompute::full, "full recomputation");
  kind(s.recompute == Recompute::by_operator, "recomputation by operator");
  const std::int64_t window = s.model.variations.window;
  kind(window > 0 && window < s.training.sequence, "windows of attention");
  kind(s.training.frozen_layers > 0, "frozen layers");
  kind(trains_adapters(s.training), "adapters");
  kind(s.training.document_length > 0, "packed documents");
  kind(s.input.bytes_per_sample || s.input.preprocessing > Time{}, "input pipeline");
  kind(s.checkpoint.every > 0, "checkpoints");
  kind(s.offload.any(), "offload");
  kind(s.imperfections.any(), "imperfections");

  out.sizes["GPUs"] = s.cluster.gpus;
  out.sizes["samples a micro-batch"] = static_cast<double>(s.training.micro_batch);
  if (has_tokens(s.model.family)) out.sizes["tokens a sample"] = static_cast<double>(s.training.sequence);
  if (s.model.hidden > 0) out.sizes["hidden size"] = static_cast<double>(s.model.hidden);
  if (p.tensor > 1) out.sizes["tensor ranks"] = p.tensor;
  if (p.context > 1) out.sizes["context ranks"] = p.context;
  if (p.expert > 1) out.sizes["expert ranks"] = p.expert;
  if (p.pipeline > 1) out.sizes["pipeline stages"] = p.pipeline;
  if (p.data > 1) out.sizes["data ranks"] = p.data;
  if (has_nodes_joined(s.cluster))
    out.sizes["GB/s of network a node"] = s.cluster.node.nics * s.cluster.node.nic->bandwidth.value / 1e9;
  return out;
}

}  // namespace stepcast::calibrate
