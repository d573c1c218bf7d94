#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stepcast::topology {

/// GPUs of one node that are in use, by their number in the node, in the order ranks are given to them.
struct AllocatedNode {
  std::uint32_t node = 0;
  std::vector<std::uint32_t> gpus;  ///< empty: all of them
  friend bool operator==(const AllocatedNode&, const AllocatedNode&) = default;
};

/// Which GPUs of which nodes a job has. GPU ids follow the order written here.
struct Allocation {
  std::vector<AllocatedNode> nodes;
  std::uint32_t of_nodes = 0;  ///< nodes that the machine has; 0: up to the last one named
  friend bool operator==(const Allocation&, const Allocation&) = default;
};

/// Reads the notation of `cluster.allocation`: items between commas, "[nodeA[-B]:]GPU[-GPU]". An item without a node
/// belongs to the node before it, or to node 0 at the start; "node3" and "node3:*" are all GPUs of node 3.
/// "0-2,5": four GPUs of node 0. "node0:0-3,node2:4-7": four each of two nodes. "node0-3:0-3,6": five each of four.
/// Throws InputError(place, ...) for anything else, a GPU or a node listed twice, and more than 100,000 GPUs.
Allocation parse_allocation(std::string_view text, const std::string& place = {});

/// Lists the GPUs where the notation meant all of `gpus_per_node`, and sets `of_nodes`. Throws InputError(place, ...)
/// for a GPU or node beyond the last, for an allocation of nothing, and for more than 100,000 GPUs.
Allocation resolve(Allocation allocation, std::uint32_t gpus_per_node, const std::string& place);

/// GPUs in all. Requires a resolved allocation.
std::uint32_t count(const Allocation& allocation);

}  // namespace stepcast::topology
