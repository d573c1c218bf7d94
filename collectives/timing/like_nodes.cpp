#include "collectives/timing/like_nodes.h"

#include <algorithm>

namespace stepcast::collectives {

using topology::LinkId;

std::optional<LikeNodes> LikeNodes::find(const CollectivePlan& plan, const GroupPlacement& placement,
                                         const topology::Cluster& cluster, Symmetry symmetry) {
  const std::uint32_t gpus = placement.ranks / placement.nodes;
  if (placement.nodes == 1 || symmetry.period != gpus || (symmetry.row != 0 && symmetry.row != gpus)) return {};
  if (plan.switches != 0 || std::ranges::any_of(plan.connections, &Connection::host_side)) return {};
  const std::vector<std::uint32_t>& kinds = cluster.kinds_of_nodes();
  if (kinds.empty()) return {};
  LikeNodes made;
  made.gpus_ = gpus;
  made.nodes_ = placement.nodes;
  made.links_per_node_ = cluster.links_per_node();
  made.first_fabric_ = cluster.first_fabric_link();
  made.kinds_ = *std::ranges::max_element(kinds) + 1;
  made.set_of_node_.assign(made.first_fabric_ / made.links_per_node_, kNone);
  made.place_.assign(made.pairs(), kNone);
  for (const std::vector<topology::GpuId>& group : placement.groups) {
    if (!made.add_set(group, cluster)) return {};
    std::vector<std::uint32_t>& of_group = made.kind_of_.emplace_back();
    for (std::size_t rank = 0; rank < group.size(); rank += gpus)
      of_group.push_back(kinds[cluster.node_of(group[rank])]);
  }
  return made;
}

/// False where the group's nodes are not alike, or partly those of another group.
bool LikeNodes::add_set(const std::vector<topology::GpuId>& group, const topology::Cluster& cluster) {
  std::vector<std::uint32_t> nodes;
  for (std::size_t rank = 0; rank < group.size(); ++rank) {
    const std::size_t first = rank - rank % gpus_;
    if (cluster.place_in_node(group[rank]) != cluster.place_in_node(group[rank % gpus_]) ||
        cluster.node_of(group[rank]) != cluster.node_of(group[first]))
      return false;
    if (rank == first) nodes.push_back(node_of_link(cluster.first_link_of_node(group[rank])));
  }
  std::ranges::sort(nodes);
  if (std::ranges::adjacent_find(nodes) != nodes.end()) return false;
  const std::uint32_t set = set_of_node_[nodes.front()];
  if (set != kNone) return sets_[set] == nodes;
  for (const std::uint32_t node : nodes) {
    if (set_of_node_[node] != kNone) return false;
    set_of_node_[node] = static_cast<std::uint32_t>(sets_.size());
  }
  sets_.push_back(std::move(nodes));
  return true;
}

LinkId LikeNodes::stand_in(LinkId link) const {
  if (topology::index(link) >= first_fabric_) return link;
  const std::uint32_t node = node_of_link(link), first = sets_[set_of_node_[node]].front();
  return LinkId{topology::index(link) - (node - first) * links_per_node_};
}

void LikeNodes::add_members(LinkId stand_in, std::vector<LinkId>& to) const {
  if (topology::index(stand_in) >= first_fabric_) {
    to.push_back(stand_in);
    return;
  }
  const std::uint32_t first = node_of_link(stand_in);
  for (const std::uint32_t node : sets_[set_of_node_[first]])
    to.push_back(LinkId{topology::index(stand_in) + (node - first) * links_per_node_});
}

std::span<const LikeNodes::Shifts> LikeNodes::shifts(std::uint32_t group, std::uint32_t from, std::uint32_t to) {
  const std::uint32_t apart = (to + nodes_ - from) % nodes_;
  if (group == group_ && apart == apart_ && from == from_) return shifts_;
  group_ = group;
  apart_ = apart;
  from_ = from;
  shifts_.clear();
  const std::vector<std::uint32_t>& kind = kind_of_[group];
  for (std::uint32_t shift = 0; shift < nodes_; ++shift) {
    const std::uint32_t here = (from + shift) % nodes_, there = (to + shift) % nodes_;
    const std::uint32_t kinds = apart == 0 ? pairs() - 1 : kind[here] * kinds_ + kind[there];
    std::uint32_t& place = place_[kinds];
    if (place == kNone) {
      place = static_cast<std::uint32_t>(shifts_.size());
      shifts_.push_back({shift, 0, kinds});
    }
    ++shifts_[place].times;
  }
  for (const Shifts& each : shifts_) place_[each.kinds] = kNone;
  return shifts_;
}

}  // namespace stepcast::collectives
