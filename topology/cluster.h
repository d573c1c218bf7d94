#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "topology/allocation.h"
#include "topology/graph.h"
#include "topology/ids.h"
#include "topology/path.h"
#include "topology/slow_node.h"
#include "topology/spec.h"

namespace stepcast::topology {

/// One direction of a link.
struct Link {
  std::string from, to;  ///< "node 3 / gpu 2", "leaf 0", ...
  LinkKind kind{};
  Bandwidth bandwidth{};  ///< payload bytes per second: data sheet x efficiency
  Time latency{};
};

/// One direction of a link without the names of its ends, which cost memory to make.
struct LinkTraits {
  LinkKind kind{};
  Bandwidth bandwidth{};  ///< payload bytes per second
  Time latency{};
};

/// What a NIC's cable carries in one direction.
struct NicPort {
  Bandwidth data_sheet{};
  Bandwidth payload{};  ///< what bulk transfers reach of it
  NcclOverNetwork nccl{};
};

/// All of a cluster: the graph of its node, the fabric, which GPUs are in use (topology/cluster_parts.h).
struct ClusterParts;

/// Nodes of one kind joined by a fabric. One node is kept as a Boost.Graph and repeated by arithmetic, so memory and
/// build time grow with distinct things, not with GPUs. Immutable; safe to read from any thread.
class Cluster {
 public:
  std::uint32_t gpus() const;
  /// Those in use, below the node's own count where the cluster is a part of one. Where nodes are used unlike each
  /// other (other GPUs, or other numbers of them) all of gpus(): after this many ids the placement repeats.
  std::uint32_t gpus_per_node() const;
  std::uint32_t nodes() const;  ///< nodes with GPUs in use
  std::uint32_t links() const;
  bool nvlink_sharp() const;          ///< NVSwitches add up what GPUs push: NodeSpec::nvlink_sharp
  bool in_network_reduction() const;  ///< the fabric's switches do: FabricSpec::in_network_reduction; false of one node
  std::uint32_t compute_capability() const;  ///< of its GPUs: NodeSpec::compute_capability
  CpuVendor cpu() const;                     ///< of its nodes
  bool pcie_p2p() const;  ///< whether GPUs and adapters of a node copy to each other, not to host memory: NodeSpec's
  /// Whether traffic of nodes that have nothing in common may meet in the fabric, on links that it fills together.
  bool fabric_may_block() const;
  NicPort nic_port() const;  ///< zeros where no fabric joins nodes
  /// GPUs in a row of the torus that the one node is; 0 where there are more nodes, other nodes, or GPUs not in use.
  std::uint32_t torus_row() const;
  std::uint32_t node_of(GpuId gpu) const;        ///< below nodes(), in the order of the ids
  std::uint32_t place_in_node(GpuId gpu) const;  ///< among all GPUs of its node, used or not
  std::string name(GpuId gpu) const;             ///< "node 3 / gpu 2": numbers of the whole machine

  /// Throws InputError("no path from ... to ...") where the graph has none. O(hops).
  Path path(GpuId from, GpuId to) const;
  Link link(LinkId id) const;
  LinkTraits link_traits(LinkId id) const;    ///< O(1)
  Bandwidth link_bandwidth(LinkId id) const;  ///< O(1)
  /// What of its bandwidth the link has: 1, but of network links of the slow node. Whoever plans traffic (routes, NCCL)
  /// does not know of it.
  double link_speed(LinkId id) const;  ///< O(1)
  bool has_slow_node() const { return slow_speed_ != 1; }
  Cluster without_slow_node() const;
  DeviceKind link_source_kind(LinkId id) const;  ///< of the device that it leads from
  DeviceKind link_target_kind(LinkId id) const;  ///< of the device that it leads to
  std::uint32_t link_source(LinkId id) const;    ///< that device's number among all of the machine
  std::uint32_t link_target(LinkId id) const;
  /// Links are numbered node by node, of the machine's nodes in their order, used or not: so many of each, its NIC
  /// cables included. The fabric's follow, first_fabric_link() first; that is links() where there is no fabric.
  std::uint32_t links_per_node() const;
  std::uint32_t first_fabric_link() const;
  LinkId first_link_of_node(GpuId gpu) const;
  /// By node_of: a number, equal for nodes whose NICs plug into the same switches. Ways from GPUs in one place to GPUs
  /// in one place of another node, between nodes of the same numbers, differ in nothing but these nodes' own links.
  /// Empty where that cannot be said: each flow draws its own way (routing: hash), nodes are used unlike each other, or
  /// there is one.
  const std::vector<std::uint32_t>& kinds_of_nodes() const;
  /// Whether the link is one of the GPU's node, its NICs' cables included.
  bool in_node_of(GpuId gpu, LinkId link) const;

  /// Throws std::logic_error for a slow node that is not in use.
  explicit Cluster(std::shared_ptr<const ClusterParts> parts, const std::optional<SlowNode>& slow = {});
  const ClusterParts& parts() const { return *parts_; }  ///< for topology/ alone

 private:
  std::shared_ptr<const ClusterParts> parts_;
  std::uint32_t first_of_slow_node_ = 0;  ///< link
  double slow_speed_ = 1;                 ///< of its network links; 1: there is none
};

/// `gpus` in all: whole nodes, or fewer GPUs than one node has. Throws InputError with what is allowed
/// (unknown builder or fabric kind, GPUs that are no whole number of nodes, a node without NICs used twice, ...).
Cluster build_cluster(const NodeSpec& node, const FabricSpec& fabric, std::uint32_t gpus);

/// The GPUs of an allocation; the fabric joins all nodes of the machine, used or not. A relay (PXN) is a GPU in use.
Cluster build_cluster(const NodeSpec& node, const FabricSpec& fabric, const Allocation& allocation);

/// The allocation where there is one, else the first `gpus`. Requires a slow node that is in use.
Cluster build_cluster(const NodeSpec& node, const FabricSpec& fabric, std::uint32_t gpus,
                      const std::optional<Allocation>& allocation, const std::optional<SlowNode>& slow = {});

}  // namespace stepcast::topology
