#include "schedules/plan/changes.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string_view>

namespace stepcast::schedules {
namespace {

ChangeGroup more_zero(const Scenario& s) {
  ChangeGroup group;
  if (weight_copies(s.parallelism) == 1) return group;
  for (int zero = s.data_parallel.zero + 1; zero <= 3; ++zero)
    group.push_back([zero](Scenario& t) { t.data_parallel.zero = std::max(t.data_parallel.zero, zero); });
  return group;
}

/// Tensor ranks have to be among those that share out the experts, or each of them, and each routes its own part of the
/// sequence.
void share_experts(Parallelism& plan, const Model& model) {
  if (model.family != Family::moe || plan.tensor == 1) return;
  plan.sequence = true;
  plan.expert = std::lcm(expert_ranks(plan), plan.tensor) / plan.expert_tensor;
}

ChangeGroup more_expert_ranks(const Scenario& s) {
  ChangeGroup group;
  if (s.model.family != Family::moe) return group;
  const std::uint32_t stage_ranks = s.cluster.gpus / s.parallelism.pipeline;
  for (std::uint32_t expert = 2 * s.parallelism.expert; expert <= stage_ranks; expert *= 2)
    group.push_back([expert](Scenario& t) { t.parallelism.expert = expert; });
  return group;
}

ChangeGroup sequence_parallelism(const Scenario& s) {
  if (s.parallelism.sequence || is_network(s.model.family)) return {};
  return {[](Scenario& t) { t.parallelism.sequence = t.parallelism.tensor > 1; }};
}

ChangeGroup smaller_micro_batches(const Scenario& s) {
  ChangeGroup group;
  for (std::int64_t size = s.training.micro_batch / 2; size > 0; size /= 2)
    group.push_back([size](Scenario& t) { t.training.micro_batch = size; });
  return group;
}

ChangeGroup more_recomputation(const Scenario& s) {
  const auto to = [](Recompute recompute) {
    return [recompute](Scenario& t) {
      t.recompute = recompute;
      t.recomputed_modules.reset();
      t.recompute_group = 1;
      t.recompute_layers.reset();
    };
  };
  ChangeGroup group;
  if (s.recompute == Recompute::none) group.push_back(to(Recompute::selective));
  if (s.recompute != Recompute::full || s.recompute_group > 1 || s.recompute_layers)
    group.push_back(to(Recompute::full));
  return group;
}

/// More ranks of a dimension, over `above` of them and up to `most`, so many times fewer data ranks.
ChangeGroup fewer_data_ranks(const Scenario& s, std::uint32_t Parallelism::*dimension, std::uint32_t above,
                             std::uint32_t most) {
  ChangeGroup group;
  for (std::uint32_t times = 2; times <= s.parallelism.data && times * s.parallelism.*dimension <= most; times *= 2) {
    if (s.parallelism.data % times != 0) break;
    if (times * s.parallelism.*dimension <= above) continue;
    group.push_back([times, dimension](Scenario& t) {
      if (t.parallelism.data % times != 0) return;
      t.parallelism.*dimension *= times;
      t.parallelism.data /= times;
      share_experts(t.parallelism, t.model);
    });
  }
  return group;
}

ChangeGroup offloading(Tier tier) {
  using Kinds = std::vector<Tier OffloadPlan::*>;
  ChangeGroup group;
  for (const Kinds& kinds : {Kinds{&OffloadPlan::activations}, Kinds{&OffloadPlan::optimizer},
                             Kinds{&OffloadPlan::activations, &OffloadPlan::optimizer},
                             Kinds{&OffloadPlan::optimizer, &OffloadPlan::parameters},
                             Kinds{&OffloadPlan::activations, &OffloadPlan::optimizer, &OffloadPlan::parameters}})
    group.push_back([kinds, tier](Scenario& t) {
      for (const auto kind : kinds) t.offload.*kind = tier;
    });
  return group;
}

}  // namespace

std::vector<ChangeGroup> mild_changes(const Scenario& s) {
  return {more_zero(s), more_expert_ranks(s), sequence_parallelism(s), smaller_micro_batches(s), more_recomputation(s)};
}

std::vector<ChangeGroup> placing_changes(const Scenario& s) {
  const std::uint32_t node = s.cluster.node.gpus, all = s.cluster.gpus;
  return {fewer_data_ranks(s, &Parallelism::tensor, 0, node), fewer_data_ranks(s, &Parallelism::context, 0, all),
          fewer_data_ranks(s, &Parallelism::pipeline, 0, all)};
}

std::vector<ChangeGroup> dear_changes(const Scenario& s) {
  std::vector<ChangeGroup> groups{fewer_data_ranks(s, &Parallelism::tensor, s.cluster.node.gpus, s.cluster.gpus),
                                  offloading(Tier::host)};
  if (s.offload.nvme_bandwidth) groups.push_back(offloading(Tier::nvme));
  if (s.offload.any()) groups.push_back(offloading(Tier::gpu));
  return groups;
}

std::vector<Change> more_gpus(const Scenario& s) {
  constexpr std::uint32_t kMostTimes = 1024, kMostGpus = 1'000'000;
  std::vector<Change> all;
  if (s.cluster.allocation || s.cluster.other) return all;
  std::vector<std::uint32_t> factors;
  for (std::uint32_t times = 2; times <= kMostTimes; times *= 2) factors.push_back(times);
  // From a part of a node to whole ones.
  if (s.cluster.node.gpus % s.cluster.gpus == 0)
    for (std::uint32_t times = s.cluster.node.gpus / s.cluster.gpus; times <= kMostTimes; times *= 2)
      if (times > 1) factors.push_back(times);
  std::ranges::sort(factors);
  factors.erase(std::unique(factors.begin(), factors.end()), factors.end());
  std::erase_if(factors, [&](std::uint32_t times) { return times > kMostGpus / s.cluster.gpus; });
  for (const std::uint32_t times : factors)
    for (const auto dimension : {&Parallelism::data, &Parallelism::pipeline, &Parallelism::tensor})
      all.push_back([times, dimension](Scenario& t) {
        t.cluster.gpus *= times;
        t.parallelism.*dimension *= times;
        share_experts(t.parallelism, t.model);
      });
  return all;
}

std::vector<std::string> settings(const Scenario& from, const Scenario& to) {
  std::vector<std::string> out;
  const auto add = [&](std::string_view key, const auto& before, const auto& after, const std::string& value) {
    if (before != after) out.push_back(std::string(key) + "=" + value);
  };
  const auto number = [&](std::string_view key, auto before, auto after) {
    add(key, before, after, std::to_string(after));
  };
  const auto tier = [&](std::string_view key, Tier before, Tier after) {
    add(key, before, after, std::string(name(after)));
  };
  const Parallelism &p = from.parallelism, &q = to.parallelism;
  number("cluster.gpus", from.cluster.gpus, to.cluster.gpus);
  number("parallelism.tensor", p.tensor, q.tensor);
  number("parallelism.context", p.context, q.context);
  number("parallelism.expert", p.expert, q.expert);
  number("parallelism.expert_tensor", p.expert_tensor, q.expert_tensor);
  number("parallelism.pipeline", p.pipeline, q.pipeline);
  number("parallelism.data", p.data, q.data);
  add("parallelism.sequence", p.sequence, q.sequence, q.sequence ? "true" : "false");
  number("training.micro_batch", from.training.micro_batch, to.training.micro_batch);
  number("data_parallel.zero", from.data_parallel.zero, to.data_parallel.zero);
  const bool whole_layers = from.recompute_group != to.recompute_group || from.recompute_layers != to.recompute_layers;
  if (from.recompute != to.recompute || whole_layers) out.push_back("recompute=" + std::string(name(to.recompute)));
  tier("offload.activations", from.offload.activations, to.offload.activations);
  tier("offload.optimizer", from.offload.optimizer, to.offload.optimizer);
  tier("offload.parameters", from.offload.parameters, to.offload.parameters);
  return out;
}

}  // namespace stepcast::schedules
