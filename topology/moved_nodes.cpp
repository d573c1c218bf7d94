#include "topology/moved_nodes.h"

#include <algorithm>

#include "topology/cluster_parts.h"

namespace stepcast::topology {
namespace {

using Moved = std::pair<std::uint32_t, std::uint32_t>;  // an earlier thing, and the one that has its place

/// Beyond so many switches there are more ways between them than are worth a look.
constexpr std::size_t kMostSwitches = 256;

/// Puts them in order. False where two things have one place, or one thing two.
bool one_to_one(std::vector<Moved>& things) {
  std::ranges::sort(things);
  things.erase(std::unique(things.begin(), things.end()), things.end());
  if (std::ranges::adjacent_find(things, {}, &Moved::first) != things.end()) return false;
  std::vector<std::uint32_t> later;
  for (const Moved& thing : things) later.push_back(thing.second);
  std::ranges::sort(later);
  return std::ranges::adjacent_find(later) == later.end();
}

/// Appends the links of the ways between two switches; false where the ways differ.
bool add_links(const Fabric& fabric, const Moved& from, const Moved& to, std::vector<Moved>& links) {
  std::vector<std::uint32_t> earlier, later;
  if (fabric.route(from.first, to.first, 0, earlier) != fabric.route(from.second, to.second, 0, later)) return false;
  const auto like = [&](std::uint32_t a, std::uint32_t b) {
    return fabric.links[a].bandwidth == fabric.links[b].bandwidth && fabric.links[a].latency == fabric.links[b].latency;
  };
  if (!std::ranges::equal(earlier, later, like)) return false;
  for (std::size_t hop = 0; hop < earlier.size(); ++hop) links.emplace_back(earlier[hop], later[hop]);
  return true;
}

}  // namespace

std::optional<MovedNodes> MovedNodes::find(const Cluster& cluster, std::span<const std::uint32_t> nodes,
                                           std::uint32_t down) {
  const ClusterParts& parts = cluster.parts();
  if (parts.kinds_of_nodes.empty() || nodes.empty()) return {};
  const auto in_machine = [&](std::uint32_t node) { return parts.gpus.slot(GpuId{node * parts.gpus.period()}).node; };
  const std::uint32_t apart = in_machine(nodes.front()) - in_machine(nodes.front() - down);
  std::vector<Moved> switches;
  for (const std::uint32_t node : nodes) {
    const std::uint32_t earlier = in_machine(node - down), later = in_machine(node);
    if (later - earlier != apart) return {};
    for (std::uint32_t nic = 0; nic < parts.node.nics.size(); ++nic)
      switches.emplace_back(parts.fabric->switch_of(earlier, nic), parts.fabric->switch_of(later, nic));
  }
  if (!one_to_one(switches) || switches.size() > kMostSwitches) return {};
  MovedNodes made;
  made.first_fabric_ = cluster.first_fabric_link();
  made.up_ = apart * parts.links_per_node;
  for (const Moved& from : switches) {
    for (const Moved& to : switches)
      if (from != to && !add_links(*parts.fabric, from, to, made.fabric_)) return {};
    if (!one_to_one(made.fabric_)) return {};
  }
  if (!std::ranges::is_sorted(made.fabric_, {}, &Moved::second)) return {};
  return made;
}

LinkId MovedNodes::link(LinkId earlier) const {
  const std::uint32_t id = index(earlier);
  if (id < first_fabric_) return LinkId{id + up_};
  const auto at = std::ranges::lower_bound(fabric_, id - first_fabric_, {}, &Moved::first);
  return LinkId{first_fabric_ + at->second};
}

}  // namespace stepcast::topology
