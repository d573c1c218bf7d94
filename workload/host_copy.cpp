#include "workload/host_copy.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "sim/input_error.h"

namespace stepcast::workload {
namespace {

using topology::LinkId;
using topology::Path;

}  // namespace

Path HostWays::way(topology::GpuId gpu, topology::ToHost direction) {
  const std::uint32_t first = index(cluster_.first_link_of_node(gpu));
  const std::pair key{cluster_.place_in_node(gpu), direction};
  auto known = known_.find(key);
  if (known == known_.end()) {
    std::optional<Path> path = host_path(cluster_, gpu, direction);
    if (!path) throw InputError("offload", "no PCIe path from " + cluster_.name(gpu) + " to a CPU");
    known = known_.emplace(key, KnownPath{*std::move(path), first}).first;
  }
  Path path = known->second.path;
  for (LinkId& link : path.links) link = LinkId{index(link) - known->second.first_link + first};
  return path;
}

CopiesAtOnce at_once(const HostCopy& copy, const topology::Cluster& cluster, HostWays& ways) {
  CopiesAtOnce slowest;
  std::vector<Path> all;
  for (const topology::GpuId gpu : copy.gpus) all.push_back(ways.way(gpu, copy.direction));
  for (const Path& way : all)
    for (const LinkId link : way.links) ++slowest.sharers[link];
  double least = std::numeric_limits<double>::infinity();
  for (const Path& way : all) {
    double seconds_a_byte = 1 / copy.at_most.value;
    for (const LinkId link : way.links)
      seconds_a_byte = std::max(seconds_a_byte, slowest.sharers.at(link) / cluster.link_bandwidth(link).value);
    least = std::min(least, seconds_a_byte);
    slowest.seconds_a_byte = std::max(slowest.seconds_a_byte, seconds_a_byte);
    slowest.latency = std::max(slowest.latency, copy.latency.value_or(way.latency));
  }
  if (least < slowest.seconds_a_byte) slowest.spread = 1 - least / slowest.seconds_a_byte;
  return slowest;
}

collectives::Timing timing_of(const HostCopy& copy, const topology::Cluster& cluster, HostWays& ways, Siblings beside) {
  CopiesAtOnce slowest = at_once(copy, cluster, ways);
  const double spread = slowest.spread;
  if (beside.unfolded) {
    HostCopy own = copy;
    own.gpus.resize(copy.own);
    CopiesAtOnce by_themselves = at_once(own, cluster, ways);
    if (spread > 0 || !beside.together)
      slowest = std::move(by_themselves);
    else
      slowest.sharers = std::move(by_themselves.sharers);
  }
  collectives::Timing timing{.latency = slowest.latency,
                             .still = slowest.latency,
                             .algorithm = {},
                             .protocol = {},
                             .spread = spread,
                             .loads = {}};
  const auto bytes = static_cast<double>(copy.bytes.value);
  timing.duration = slowest.latency + from_seconds(bytes * slowest.seconds_a_byte);
  for (const auto& [link, copies] : slowest.sharers)
    timing.loads.push_back({link, bytes * copies, bytes * copies, copies});
  return timing;
}

}  // namespace stepcast::workload
