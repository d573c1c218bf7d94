#include "workload/slow_links.h"

#include <algorithm>
#include <string>

namespace stepcast::workload {

SlowLinks::SlowLinks(const topology::Cluster& cluster, std::uint32_t node, double speed) : cluster_(cluster) {
  const std::string own = "node " + std::to_string(node) + " / ";
  for (std::uint32_t l = 0; l < cluster.links(); ++l) {
    const topology::Link link = cluster.link(topology::LinkId{l});
    if (link.kind != topology::LinkKind::network) continue;
    if (link.from.starts_with(own) || link.to.starts_with(own)) speeds_[l] = speed;
  }
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
