#include "schedules/plan/plan.h"

#include <algorithm>
#include <span>
#include <utility>

#include "schedules/parallel/ranks.h"
#include "schedules/plan/kinds.h"
#include "schedules/plan/memory.h"
#include "schedules/plan/node_memory.h"
#include "schedules/plan/out_of_memory.h"

namespace stepcast::schedules {
namespace {

/// Keeps what does not fit on the fullest stage.
void compare(Plan& plan, const Scenario& s, std::uint32_t stage, const MemoryUse& use) {
  if (const auto over = out_of_memory(s, stage, use);
      over && (!plan.out_of_memory || over->needed > plan.out_of_memory->needed))
    plan.out_of_memory = over;
}

/// What GPUs of two kinds take, each on the stages that it holds.
void compare_kinds(Plan& plan, const Scenario& s, std::span<const std::vector<MemoryUse>> of_kinds) {
  const std::vector<std::uint32_t> gpus = gpus_of_kinds(s);
  const Ranks ranks(s.parallelism, s.cluster.node.gpus);
  for (std::size_t kind = 0; kind < plan.staged.kinds.size(); ++kind) {
    const Scenario& own = plan.staged.kinds[kind];
    Bytes most{};
    for (std::uint32_t stage = 0; stage < s.parallelism.pipeline; ++stage) {
      if (!is_held_by(s, ranks, stage, kind)) continue;
      most = std::max(most, of_kinds[kind][stage].peak());
      compare(plan, own, stage, of_kinds[kind][stage]);
    }
    plan.shares.push_back({own.cluster.gpu.name, gpus[kind], own.training.micro_batch, most});
  }
  for (std::uint32_t stage = 0; stage < s.parallelism.pipeline; ++stage)
    if (!is_held_by(s, ranks, stage, 0)) plan.memory[stage] = of_kinds[1][stage];
}

}  // namespace

Plan plan(const Scenario& s, std::vector<Scenario> kinds, SharedParts* shared) {
  Plan out{staged_model(s, std::move(kinds), shared), {}};
  std::vector<std::vector<MemoryUse>> of_kinds;
  for (std::size_t kind = 0; kind < out.staged.models.size(); ++kind)
    of_kinds.push_back(stage_memories(out.staged.kind(s, kind), *out.staged.models[kind], out.staged.chunks,
                                      *out.staged.pipeline, shared != nullptr ? &shared->saved_peaks() : nullptr));
  out.memory = of_kinds.front();
  if (s.cluster.other)
    compare_kinds(out, s, of_kinds);
  else
    for (std::uint32_t stage = 0; stage < s.parallelism.pipeline; ++stage) compare(out, s, stage, out.memory[stage]);
  if (s.offload.any()) {
    const FullestNodes nodes = fullest_nodes(s, of_kinds);
    out.host_memory = nodes.host_memory;
    out.drives = nodes.drives;
    if (!out.out_of_memory) out.out_of_memory = nodes.out_of_memory;
  }
  return out;
}

Plan plan(const Scenario& s, workload::Machines& machines, SharedParts* shared) {
  if (!s.cluster.other) return plan(s, std::vector<Scenario>{}, shared);
  const auto machine = machines.of(machine_of(s));
  return plan(s, kinds_of(s, Ranks(s.parallelism, machine->cluster().gpus_per_node()), machine->timer()), shared);
}

}  // namespace stepcast::schedules
