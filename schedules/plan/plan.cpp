#include "schedules/plan/plan.h"

#include <utility>

#include "schedules/parallel/ranks.h"
#include "schedules/plan/kinds.h"
#include "schedules/plan/memory.h"
#include "schedules/plan/node_memory.h"
#include "schedules/plan/out_of_memory.h"

namespace stepcast::schedules {
namespace {

MemoryUse memory_of(const Scenario& s, const StagedModel& m, std::size_t kind, std::uint32_t stage) {
  return stage_memory(s, m.models[kind], m.chunks[stage], m.pipeline.shape, m.pipeline.orders[stage],
                      m.pipeline.weight_versions[stage]);
}

/// What does not fit on the fullest stage.
void compare_stages(Plan& plan, const Scenario& s) {
  for (std::uint32_t stage = 0; stage < plan.memory.size(); ++stage)
    if (const auto over = out_of_memory(s, stage, plan.memory[stage]);
        over && (!plan.out_of_memory || over->needed > plan.out_of_memory->needed))
      plan.out_of_memory = over;
}

/// What each of two kinds of GPUs takes. Returns what the second takes.
MemoryUse compare_kinds(Plan& plan, const Scenario& s) {
  const std::vector<std::uint32_t> gpus = gpus_of_kinds(s);
  MemoryUse use;
  for (std::size_t kind = 0; kind < plan.staged.kinds.size(); ++kind) {
    const Scenario& own = plan.staged.kinds[kind];
    use = memory_of(own, plan.staged, kind, 0);
    plan.shares.push_back({own.cluster.gpu.name, gpus[kind], own.training.micro_batch, use.peak()});
    if (const auto over = out_of_memory(own, 0, use); over && !plan.out_of_memory) plan.out_of_memory = over;
  }
  return use;
}

}  // namespace

Plan plan(const Scenario& s, std::vector<Scenario> kinds) {
  Plan out{staged_model(s, std::move(kinds)), {}};
  for (std::uint32_t stage = 0; stage < s.parallelism.pipeline; ++stage)
    out.memory.push_back(memory_of(s, out.staged, 0, stage));
  compare_stages(out, s);
  std::optional<MemoryUse> of_other;
  if (s.cluster.other) of_other = compare_kinds(out, s);
  if (s.offload.any()) {
    const FullestNodes nodes = fullest_nodes(s, out.memory, of_other);
    out.host_memory = nodes.host_memory;
    out.drives = nodes.drives;
    if (!out.out_of_memory) out.out_of_memory = nodes.out_of_memory;
  }
  return out;
}

Plan plan(const Scenario& s, workload::Machines& machines) {
  if (!s.cluster.other) return plan(s, std::vector<Scenario>(1, s));
  const auto machine = machines.of(machine_of(s));
  return plan(s, kinds_of(s, Ranks(s.parallelism, machine->cluster().gpus_per_node()), machine->timer()));
}

}  // namespace stepcast::schedules
