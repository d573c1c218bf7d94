#include "workload/host_copy.h"

#include <algorithm>
#include <vector>

#include "sim/input_error.h"

namespace stepcast::workload {
namespace {

using topology::LinkId;
using topology::Path;

struct Alone {
  Time latency{};
  double seconds_a_byte = 0;
  bool alike = true;  ///< all take the same
};

/// Of copies that all run at once.
Alone alone(const HostCopy& copy, const topology::Cluster& cluster, const std::vector<Path>& ways) {
  std::map<LinkId, double> sharers;
  for (const Path& way : ways)
    for (const LinkId link : way.links) ++sharers[link];
  Alone slowest;
  for (const Path& way : ways) {
    double seconds_a_byte = 1 / copy.at_most.value;
    for (const LinkId link : way.links)
      seconds_a_byte = std::max(seconds_a_byte, sharers[link] / cluster.link_bandwidth(link).value);
    slowest.alike = slowest.alike && (&way == ways.data() || seconds_a_byte == slowest.seconds_a_byte);
    slowest.seconds_a_byte = std::max(slowest.seconds_a_byte, seconds_a_byte);
    slowest.latency = std::max(slowest.latency, copy.latency.value_or(way.latency));
  }
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
  const bool alike = slowest.alike;
  if (beside.unfolded) {
    all.resize(copy.own);
    if (!alike || !beside.together) slowest = alone(copy, cluster, all);
  }
  collectives::Timing timing{.latency = slowest.latency, .algorithm = {}, .protocol = {}, .alike = alike, .loads = {}};
  const auto bytes = static_cast<double>(copy.bytes.value);
  timing.duration = slowest.latency + from_seconds(bytes * slowest.seconds_a_byte);
  std::map<LinkId, double> sharers;
  for (const Path& way : all)
    for (const LinkId link : way.links) ++sharers[link];
  for (const auto& [link, copies] : sharers) timing.loads.push_back({link, bytes * copies, bytes * copies, copies});
  return timing;
}

}  // namespace stepcast::workload
