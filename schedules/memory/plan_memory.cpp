#include "schedules/memory/plan_memory.h"

#include <algorithm>
#include <utility>

#include "collectives/timer.h"
#include "schedules/kinds.h"
#include "schedules/memory/memory.h"
#include "schedules/memory/node_memory.h"
#include "schedules/memory/out_of_memory.h"
#include "schedules/parallel/ranks.h"

namespace stepcast::schedules {
namespace {

MemoryUse memory_of(const Scenario& s, const StagedModel& m, std::size_t kind, std::uint32_t stage) {
  return stage_memory(s, m.models[kind], m.chunks[stage], m.pipeline.shape, m.pipeline.orders[stage],
                      m.pipeline.weight_versions[stage]);
}

/// Shares of a balanced batch depend on what the network takes.
std::vector<Scenario> kinds_on(const Scenario& s, const topology::Cluster& cluster) {
  collectives::Timer timer(cluster, s.software.transport);
  return kinds_of(s, Ranks(s.parallelism, cluster.gpus_per_node()), timer);
}

}  // namespace

MemoryUse stage_memory(const Scenario& s, const StagedModel& staged, std::uint32_t stage) {
  return memory_of(s, staged, 0, stage);
}

void compare_with_gpus(Forecast& f, const Scenario& s, const StagedModel& staged) {
  for (const StageReport& stage : f.stages)
    if (const auto over = out_of_memory(s, stage.stage, stage.memory);
        over && (!f.out_of_memory || over->needed > f.out_of_memory->needed))
      f.out_of_memory = over;
  if (!s.cluster.other) return;
  const std::vector<std::uint32_t> gpus = gpus_of_kinds(s);
  for (std::size_t kind = 0; kind < staged.kinds.size(); ++kind) {
    const Scenario& own = staged.kinds[kind];
    const MemoryUse use = memory_of(own, staged, kind, 0);
    f.shares.push_back({own.cluster.gpu.name, gpus[kind], own.training.micro_batch, use.peak()});
    if (const auto over = out_of_memory(own, 0, use); over && !f.out_of_memory) f.out_of_memory = over;
  }
}

void compare_with_nodes(Forecast& f, const Scenario& s, const StagedModel& staged, const topology::Cluster& cluster) {
  std::optional<MemoryUse> of_other;
  if (s.cluster.other) of_other = memory_of(staged.kinds.back(), staged, 1, 0);
  add_node_memory(f, s, cluster, Ranks(s.parallelism, cluster.gpus_per_node()), of_other);
}

std::optional<OutOfMemory> does_not_fit(const Scenario& s, const topology::Cluster& cluster) {
  const StagedModel staged = staged_model(s, s.cluster.other ? kinds_on(s, cluster) : std::vector<Scenario>(1, s));
  Forecast f;
  for (std::uint32_t stage = 0; stage < s.parallelism.pipeline; ++stage) {
    StageReport& report = f.stages.emplace_back();
    report.stage = stage;
    report.memory = stage_memory(s, staged, stage);
  }
  compare_with_gpus(f, s, staged);
  if (s.offload.any() && !f.out_of_memory) compare_with_nodes(f, s, staged, cluster);
  return f.out_of_memory;
}

}  // namespace stepcast::schedules
