#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "topology/cluster.h"

namespace stepcast::topology {

/// Some nodes and as many earlier ones, each as far before its own, among which ways are the same: as many links of the
/// same rates and latencies, shared by the same ways, with ids in the same order. What GPUs of the ones do takes what
/// GPUs in the same places of the others do.
class MovedNodes {
 public:
  /// Nothing where ways differ or cannot be told: each flow draws its own (Cluster::kinds_of_nodes), or there are very
  /// many. `nodes`: as Cluster::node_of numbers them, in order; `down`: no more than the first of them.
  /// O((nodes x NICs) + ways between their switches).
  static std::optional<MovedNodes> find(const Cluster& cluster, std::span<const std::uint32_t> nodes,
                                        std::uint32_t down);

  /// Of a link on ways among the earlier nodes the one in its place among the later.
  LinkId link(LinkId earlier) const;

  /// About what it takes in memory.
  std::size_t bytes() const { return sizeof(*this) + fabric_.size() * sizeof(fabric_.front()); }

 private:
  std::uint32_t first_fabric_ = 0, up_ = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> fabric_;  ///< places of earlier and later links, in order
};

}  // namespace stepcast::topology
