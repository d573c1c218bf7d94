#include "schedules/memory/node_memory.h"

#include <algorithm>
#include <vector>

#include "schedules/memory/out_of_memory.h"
#include "schedules/results/memory_kinds.h"

namespace stepcast::schedules {
namespace {

/// One of a node's memories.
struct Node {
  Offloaded all;            ///< of its GPUs together
  std::uint32_t stage = 0;  ///< of the GPU with most there
  Bytes most{};             ///< that GPU's
};

std::vector<Node> nodes_of(const Forecast& f, const Scenario& s, const topology::Cluster& cluster, const Ranks& ranks,
                           const std::optional<MemoryUse>& of_other, Offloaded MemoryUse::*where) {
  std::vector<const MemoryUse*> of_stage(s.parallelism.pipeline);
  for (const StageReport& stage : f.stages) of_stage[stage.stage] = &stage.memory;
  std::vector<Node> nodes(cluster.nodes());
  for (std::uint32_t g = 0; g < s.cluster.gpus; ++g) {
    const topology::GpuId gpu{g};
    const std::uint32_t stage = ranks.coordinate(g).stage;
    const MemoryUse& use = of_other && is_other(s.cluster, gpu) ? *of_other : *of_stage[stage];
    Node& node = nodes[cluster.node_of(gpu)];
    const Offloaded& part = use.*where;
    for (const MemoryKind& kind : kMemoryKinds)
      if (kind.offloaded != nullptr) node.all.*kind.offloaded += part.*kind.offloaded;
    if (part.sum() > node.most) {
      node.most = part.sum();
      node.stage = stage;
    }
  }
  return nodes;
}

}  // namespace

void add_node_memory(Forecast& f, const Scenario& s, const topology::Cluster& cluster, const Ranks& ranks,
                     const std::optional<MemoryUse>& of_other) {
  struct Kind {
    Tier tier;
    Offloaded MemoryUse::*use;
    std::optional<NodeMemory> Forecast::*report;
    std::optional<Bytes> size;
  };
  for (const Kind& kind : {Kind{Tier::host, &MemoryUse::host, &Forecast::host_memory, s.cluster.node.host_memory},
                           Kind{Tier::nvme, &MemoryUse::nvme, &Forecast::drives, s.offload.nvme_size}}) {
    const std::vector<Node> nodes = nodes_of(f, s, cluster, ranks, of_other, kind.use);
    const Node& fullest = *std::ranges::max_element(nodes, {}, [](const Node& node) { return node.all.sum(); });
    const Bytes used = fullest.all.sum();
    if (used == Bytes{}) continue;
    f.*kind.report = NodeMemory{used, kind.size};
    if (kind.size && !f.out_of_memory)
      f.out_of_memory = out_of_memory(fullest.stage, kind.tier, fullest.all, *kind.size);
  }
}

}  // namespace stepcast::schedules
