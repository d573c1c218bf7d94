#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "collectives/forced.h"
#include "collectives/timing/weighted_lists.h"
#include "topology/cluster.h"

namespace stepcast::collectives {

/// The PCIe links over which GPUs reach host memory, where their bytes lie between the copies of two devices: on nodes
/// without PCIe peer-to-peer those for other GPUs and for adapters, on others those for adapters that hang off a CPU
/// and are further off than GPUDirect RDMA goes. Each way of a plan is added, and then each link can be asked for.
class BouncedCopies {
 public:
  BouncedCopies(const topology::Cluster& cluster, GdrLevel gdr) : cluster_(cluster), gdr_(gdr) {}

  /// Notes over which PCIe links the way's GPUs reach host memory. `hops`: its links in nodes, in order, by their
  /// places in `links`.
  void add(const WeightedList& hops, const std::vector<topology::LinkId>& links);

  /// Whether one of the GPUs that reach host memory over this link writes there and reads there.
  bool both_ways(topology::LinkId link) const;

  /// How many GPUs reach host memory over this link for an adapter.
  std::uint32_t staged(topology::LinkId link) const;

 private:
  /// A link of a node, as far as copies through host memory ask for it.
  struct NodeLink {
    topology::LinkKind kind{};
    topology::DeviceKind from{}, to{};
    std::uint32_t source = 0, target = 0;         // devices' numbers
    std::vector<std::uint32_t> gpus{}, staged{};  // that reach host memory over it, and that do for an adapter
  };
  /// A part of a way, between two of its GPUs and adapters: what it is, and its PCIe links.
  struct WayPart {
    NodeLink *first = nullptr, *last = nullptr;
    std::vector<NodeLink*> up{}, down{};  // to its first CPU, and from its last one on
    bool over_cpu = false, over_sockets = false;
  };
  NodeLink& known(topology::LinkId link);
  void end(const WayPart& part);

  const topology::Cluster& cluster_;
  GdrLevel gdr_;
  std::unordered_map<std::uint32_t, NodeLink> links_;  // by the link's id
  std::unordered_set<std::uint32_t> write_, read_;     // GPUs that do so in host memory, by their devices' numbers
  WayPart part_;                                       // so far
};

}  // namespace stepcast::collectives
