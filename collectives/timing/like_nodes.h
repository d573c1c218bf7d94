#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "collectives/plan.h"
#include "collectives/request.h"
#include "collectives/timing/placement.h"
#include "topology/cluster.h"

namespace stepcast::collectives {

/// Of a folded plan whose ranks shift node by node: each node is once the first and once the last of each flow's
/// images. So what such a flow does to one node's links it does to those of every node of its group, and its ways need
/// to be found once for each kind of nodes, not once for each pair.
class LikeNodes {
 public:
  /// Nothing where images do not shift by whole nodes, where groups have nodes in common but not all, hold other GPUs
  /// on one node than on another, or where each flow draws a way of its own through the fabric.
  static std::optional<LikeNodes> find(const CollectivePlan& plan, const GroupPlacement& placement,
                                       const topology::Cluster& cluster, Symmetry symmetry);

  /// The link of the first node of the groups that have this one, in the same place there; a fabric's link stands for
  /// itself.
  topology::LinkId stand_in(topology::LinkId link) const;
  /// Appends all links that this one stands for, in the order of their ids.
  void add_members(topology::LinkId stand_in, std::vector<topology::LinkId>& to) const;

  /// Shifts of a flow that lead from nodes of one kind to nodes of one kind.
  struct Shifts {
    std::uint32_t first = 0;  ///< one of them, in nodes
    std::uint32_t times = 0;
    std::uint32_t kinds = 0;  ///< which kinds, below pairs(); the same node is a kind by itself
  };
  /// Of a flow between the group's nodes `from` and `to`; the first is the one that no shift leaves where it is.
  /// Valid until the next call. O(nodes), nothing where they are as far apart as in the last call.
  std::span<const Shifts> shifts(std::uint32_t group, std::uint32_t from, std::uint32_t to);
  std::uint32_t pairs() const { return kinds_ * kinds_ + 1; }

 private:
  LikeNodes() = default;
  bool add_set(const std::vector<topology::GpuId>& group, const topology::Cluster& cluster);
  std::uint32_t node_of_link(topology::LinkId link) const { return topology::index(link) / links_per_node_; }

  static constexpr std::uint32_t kNone = 0xffffffffu;
  std::uint32_t gpus_ = 1, nodes_ = 1, links_per_node_ = 1, first_fabric_ = 0, kinds_ = 0;
  std::vector<std::uint32_t> set_of_node_;                      // by node of the machine; kNone: not in use
  std::vector<std::vector<std::uint32_t>> sets_;                // nodes of the machine, in order
  std::vector<std::vector<std::uint32_t>> kind_of_;             // by group: of its nodes, in its order
  std::uint32_t group_ = kNone, apart_ = kNone, from_ = kNone;  // of shifts_
  std::vector<Shifts> shifts_;
  std::vector<std::uint32_t> place_;  // by kinds: in shifts_; scratch
};

}  // namespace stepcast::collectives
