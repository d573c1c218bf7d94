#include "workload/host_copy.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "sim/input_error.h"

namespace stepcast::workload {
namespace {

using topology::LinkId;
using topology::Path;

struct Alone {
  Time latency{};
  double seconds_a_byte = 0;
  double spread = 0;  ///< the part of it by which the fastest takes less
};

/// Of copies that all run at once.
Alone alone(const HostCopy& copy, const topology::Cluster& cluster, const std::vector<Path>& ways) {
  std::map<LinkId, double> sharers;
  for (const Path& way : ways)
    for (const LinkId link : way.links) ++sharers[link];
  Alone slowest;
  double least = std::numeric_limits<double>::infinity();
  for (const Path& way : ways) {
    double seconds_a_byte = 1 / copy.at_most.value;
    for (const LinkId link : way.links)
      seconds_a_byte = std::max(seconds_a_byte, sharers[link] / cluster.link_bandwidth(link).value);
    least = std::min(least, seconds_a_byte);
    slowest.seconds_a_byte = std::max(slowest.seconds_a_byte, seconds_a_byte);
    slowest.latency = std::max(slowest.latency, copy.latency.value_or(way.latency));
  }
  if (least < slowest.seconds_a_byte) slowest.spread = 1 - least / slowest.seconds_a_byte;
  return slowest;
}

}  // namespace

Path HostWays::way(topology::GpuId gpu, topology::ToHost direction) {
  const std::uint32_t first = index(cluster_.first_link_of_node(gpu));
  const std::pair key{cluster_.place_in_node(gpu), direction};
  auto known = known_.find(key);
  if (known == known_.end()) {
    std::optional<Path> path = host_path(cluster_, gpu, direction);
    if (!path) throw InputError("offload", "no PCIe path from " + cluster_.name(gpu) + " to a CPU");
    known = known_.emplace(key, Known{*std::move(path), first}).first;
  }
  Path path = known->second.path;
  for (LinkId& link : path.links) link = LinkId{index(link) - known->second.first_link + first};
  return path;
}

collectives::Timing timing_of(const HostCopy& copy, const topology::Cluster& cluster, HostWays& ways, Siblings beside) {
  std::vector<Path> all;
  for (const topology::GpuId gpu : copy.gpus) all.push_back(ways.way(gpu, copy.direction));
  Alone slowest = alone(copy, cluster, all);
  const double spread = slowest.spread;
  if (beside.unfolded) {
    all.resize(copy.own);
    if (spread > 0 || !beside.together) slowest = alone(copy, cluster, all);
  }
  collectives::Timing timing{.latency = slowest.latency,
                             .still = slowest.latency,
                             .algorithm = {},
                             .protocol = {},
                             .spread = spread,
                             .loads = {}};
  const auto bytes = static_cast<double>(copy.bytes.value);
  timing.duration = slowest.latency + from_seconds(bytes * slowest.seconds_a_byte);
  std::map<LinkId, double> sharers;
  for (const Path& way : all)
    for (const LinkId link : way.links) ++sharers[link];
  for (const auto& [link, copies] : sharers) timing.loads.push_back({link, bytes * copies, bytes * copies, copies});
  return timing;
}

}  // namespace stepcast::workload
