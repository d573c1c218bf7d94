#include "search/layouts/unsplit.h"

namespace stepcast::search {

using namespace schedules;

Scenario unsplit(const Scenario& scenario) {
  Scenario s = scenario;
  s.training.micro_batch *= s.parallelism.data;
  // Stacks say this by whether there are stages.
  if (s.data_parallel.zero >= 2) s.data_parallel.sum_once = !sums_each_micro_batch(scenario);
  s.parallelism = {};
  s.pipeline = {};
  return s;
}

std::vector<Problem> layout_problems(const Scenario& s) {
  std::vector<Problem> out;
  const auto lacks = [&](bool has, const char* key, const char* text) {
    if (has) out.push_back({key, std::string(text) + ", which stepcast layouts has no layouts for"});
  };
  const Model& m = s.model;
  lacks(m.family == Family::t5, "model.family", "an encoder and a decoder");
  lacks(m.family == Family::operators, "model.family", "operators without a meaning");
  lacks(m.latent.kv_rank > 0, "model", "latent attention");
  lacks(m.experts.shared_ffn > 0, "model", "shared experts");
  lacks(m.experts.latent > 0, "model.experts.latent", "experts of a width of their own");
  lacks(!m.variations.pattern.empty(), "model.pattern", "layers by a pattern");
  lacks(m.variations.attention_gate, "model.attention_gate", "a gate of attention's result");
  lacks(m.mtp_layers > 0, "model", "multi-token prediction");
  lacks(m.variations.parallel_block != ParallelBlock::none, "model", "attention beside the feed-forward block");
  lacks(is_low_precision(s.training.precision), "training.precision", "multiplies of low precision");
  lacks(s.training.update_in_backward, "training.update_in_backward", "gradients that are let go of in backward");
  lacks(s.training.frozen_layers > 0, "training.frozen_layers", "layers that are not trained");
  lacks(trains_adapters(s.training), "training.lora.rank", "adapters");
  lacks(s.recompute == Recompute::by_operator, "recompute", "operators that are recomputed by themselves");
  lacks(s.recompute_group > 1 || s.recompute_layers, "recompute", "layers that are recomputed together, or some");
  lacks(s.offload.any(), "offload", "state outside of the GPUs");
  lacks(s.cluster.other.has_value(), "cluster", "GPUs of two kinds");
  lacks(s.data_parallel.shard_group.has_value(), "data_parallel.shard_group", "shards in groups of data ranks");
  lacks(s.data_parallel.mode == DataParallelMode::parameter_server, "data_parallel.mode", "parameter servers");
  return out;
}

}  // namespace stepcast::search
