#include "schedules/plan/node_memory.h"

#include <algorithm>
#include <vector>

#include "schedules/parallel/ranks.h"
#include "schedules/plan/out_of_memory.h"
#include "schedules/results/memory_kinds.h"
#include "topology/gpu_slots.h"

namespace stepcast::schedules {
namespace {

/// One of a node's memories.
struct NodeMemoryUse {
  Offloaded all;            ///< of its GPUs together
  std::uint32_t stage = 0;  ///< of the GPU with most there
  Bytes most{};             ///< that GPU's
};

std::vector<NodeMemoryUse> nodes_of(std::span<const std::vector<MemoryUse>> of_kinds, const Scenario& s,
                                    const topology::GpuSlots& gpus, const Ranks& ranks, Offloaded MemoryUse::*where) {
  std::vector<NodeMemoryUse> nodes(gpus.used_nodes());
  for (std::uint32_t g = 0; g < s.cluster.gpus; ++g) {
    const topology::GpuId gpu{g};
    const std::uint32_t stage = ranks.coordinate(g).stage;
    const MemoryUse& use = of_kinds[is_other(s.cluster, gpu) ? 1 : 0][stage];
    NodeMemoryUse& node = nodes[gpus.slot(gpu).used_node];
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

FullestNodes fullest_nodes(const Scenario& s, std::span<const std::vector<MemoryUse>> of_kinds) {
  FullestNodes out;
  const topology::GpuSlots gpus = topology::gpu_slots(s.cluster.node, s.cluster.gpus, s.cluster.allocation);
  const Ranks ranks(s.parallelism, gpus.period());
  struct OffloadTier {
    Tier tier;
    Offloaded MemoryUse::*use;
    std::optional<NodeMemory> FullestNodes::*report;
    std::optional<Bytes> size;
  };
  for (const OffloadTier& kind :
       {OffloadTier{Tier::host, &MemoryUse::host, &FullestNodes::host_memory, s.cluster.node.host_memory},
        OffloadTier{Tier::nvme, &MemoryUse::nvme, &FullestNodes::drives, s.offload.nvme_size}}) {
    const std::vector<NodeMemoryUse> nodes = nodes_of(of_kinds, s, gpus, ranks, kind.use);
    const NodeMemoryUse& fullest =
        *std::ranges::max_element(nodes, {}, [](const NodeMemoryUse& node) { return node.all.sum(); });
    const Bytes used = fullest.all.sum();
    if (used == Bytes{}) continue;
    out.*kind.report = NodeMemory{used, kind.size};
    if (kind.size && !out.out_of_memory)
      out.out_of_memory = out_of_memory(fullest.stage, kind.tier, fullest.all, *kind.size);
  }
  return out;
}

}  // namespace stepcast::schedules
