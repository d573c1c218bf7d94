#include "workload/slow_links.h"

#include <algorithm>
#include <stdexcept>

namespace stepcast::workload {

SlowLinks::SlowLinks(const topology::Cluster& cluster, std::uint32_t node, double speed) : cluster_(cluster) {
  std::uint32_t gpu = 0;
  while (gpu < cluster.gpus() && cluster.node_of(topology::GpuId{gpu}) != node) ++gpu;
  if (gpu == cluster.gpus()) throw std::logic_error("slow node beyond the last node");
  const std::uint32_t first = topology::index(cluster.first_link_of_node(topology::GpuId{gpu}));
  for (std::uint32_t l = first; l < first + cluster.links_per_node(); ++l)
    if (cluster.link_traits(topology::LinkId{l}).kind == topology::LinkKind::network) speeds_[l] = speed;
}

double SlowLinks::speed(topology::LinkId link) const {
  const auto slow = speeds_.find(topology::index(link));
  return slow == speeds_.end() ? 1 : slow->second;
}

collectives::Timing SlowLinks::slowed(collectives::Timing timing) const {
  if (speeds_.empty()) return timing;
  std::map<std::uint32_t, double> carried;
  for (const auto& load : timing.loads)
    if (speeds_.contains(topology::index(load.link))) carried[topology::index(load.link)] += load.occupied;
  for (const auto& [link, bytes] : carried) {
    const double rate = cluster_.link_bandwidth(topology::LinkId{link}).value * speeds_.at(link);
    timing.duration = std::max(timing.duration, timing.still + from_seconds(bytes / rate));
  }
  return timing;
}

}  // namespace stepcast::workload
