#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "collectives/timing/weighted_lists.h"
#include "topology/cluster.h"

namespace stepcast::collectives {

/// The PCIe links of GPUs that send and receive at the same time through host memory. Each way of a plan on nodes
/// without PCIe peer-to-peer is added, and then each link can be asked for.
class BouncedCopies {
 public:
  explicit BouncedCopies(const topology::Cluster& cluster) : cluster_(cluster) {}

  /// Notes over which PCIe links the way's GPUs reach host memory. `hops`: its links in nodes, in order, by their
  /// places in `links`.
  void add(const WeightedList& hops, const std::vector<topology::LinkId>& links);

  /// Whether one of the GPUs that reach host memory over this link writes there and reads there.
  bool both_ways(topology::LinkId link) const;

 private:
  /// A PCIe link, as far as copies through host memory ask for it.
  struct PcieLink {
    bool is_pcie = false, from_gpu = false, to_gpu = false, from_cpu = false, to_cpu = false;
    std::uint32_t source = 0, target = 0;  // devices' numbers
    std::vector<std::uint32_t> gpus{};     // that reach host memory over it, by their devices' numbers
  };
  PcieLink& known(topology::LinkId link);

  const topology::Cluster& cluster_;
  std::unordered_map<std::uint32_t, PcieLink> links_;  // by the link's id
  std::unordered_set<std::uint32_t> write_, read_;     // GPUs that do so in host memory, by their devices' numbers
  std::vector<PcieLink*> down_;                        // from a CPU on, so far
};

}  // namespace stepcast::collectives
