#include "topology/gpu_slots.h"

#include <algorithm>

namespace stepcast::topology {

GpuSlots::GpuSlots(std::uint32_t per_node, std::uint32_t gpus)
    : per_node_(per_node),
      gpus_(gpus),
      period_(std::min(per_node, gpus)),
      nodes_((gpus + per_node - 1) / per_node),
      used_nodes_(nodes_) {}

GpuSlots::GpuSlots(std::uint32_t per_node, const Allocation& allocation)
    : per_node_(per_node),
      nodes_(allocation.of_nodes),
      used_nodes_(static_cast<std::uint32_t>(allocation.nodes.size())),
      in_use_(std::size_t{nodes_} * per_node, false) {
  bool alike = true;
  for (std::uint32_t i = 0; i < allocation.nodes.size(); ++i) {
    const AllocatedNode& part = allocation.nodes[i];
    alike = alike && part.gpus == allocation.nodes.front().gpus;
    for (const std::uint32_t gpu : part.gpus) {
      listed_.push_back({part.node, gpu, i});
      in_use_[std::size_t{part.node} * per_node + gpu] = true;
    }
  }
  gpus_ = static_cast<std::uint32_t>(listed_.size());
  period_ = static_cast<std::uint32_t>(alike ? allocation.nodes.front().gpus.size() : listed_.size());
}

GpuSlots gpu_slots(const NodeSpec& node, std::uint32_t gpus, const std::optional<Allocation>& allocation) {
  if (!allocation) return {node.gpus, gpus};
  return {node.gpus, resolve(*allocation, node.gpus, node.name)};
}

}  // namespace stepcast::topology
