#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "topology/allocation.h"
#include "topology/ids.h"
#include "topology/spec.h"

namespace stepcast::topology {

/// Which GPU of which node each GPU id is: by arithmetic, or as an allocation lists them. Needs no graph of the
/// machine.
class GpuSlots {
 public:
  /// The first `gpus` of nodes of `per_node` each: of whole nodes, or fewer than one node has.
  GpuSlots(std::uint32_t per_node, std::uint32_t gpus);
  /// Those of a resolved allocation.
  GpuSlots(std::uint32_t per_node, const Allocation& allocation);

  /// A GPU in use: where it is in the machine, and its node's place among those in use.
  struct Slot {
    std::uint32_t node = 0, gpu = 0, used_node = 0;
  };
  Slot slot(GpuId gpu) const {
    if (!listed_.empty()) return listed_[index(gpu)];
    const std::uint32_t at = index(gpu) / period_;
    return {at, index(gpu) % period_, at};
  }
  std::uint32_t gpus() const { return gpus_; }
  /// GPU ids after which the placement repeats: Cluster::gpus_per_node.
  std::uint32_t period() const { return period_; }
  std::uint32_t nodes() const { return nodes_; }            ///< of the machine, used or not
  std::uint32_t used_nodes() const { return used_nodes_; }  ///< with GPUs in use
  bool listed() const { return !listed_.empty(); }          ///< by an allocation
  bool used(std::uint32_t node, std::uint32_t gpu) const {
    return in_use_.empty() ? gpu < period_ : in_use_[std::size_t{node} * per_node_ + gpu];
  }

 private:
  std::uint32_t per_node_, gpus_, period_, nodes_, used_nodes_;
  std::vector<Slot> listed_;  ///< [GpuId]; empty: the first `period_` GPUs of every node
  std::vector<bool> in_use_;  ///< [node * per_node_ + gpu]; empty likewise
};

/// As the cluster built from the same has them. Requires that it can be built.
GpuSlots gpu_slots(const NodeSpec& node, std::uint32_t gpus, const std::optional<Allocation>& allocation);

}  // namespace stepcast::topology
