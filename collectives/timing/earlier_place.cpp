#include "collectives/timing/earlier_place.h"

#include <algorithm>

namespace stepcast::collectives {
namespace {

using topology::GpuId;

constexpr std::uint32_t kNobody = 0xffffffffu;

/// Places on alike switches that are looked at closely.
constexpr int kMostTries = 4;

std::vector<std::uint32_t> nodes_in_use(const topology::Cluster& cluster, std::span<const Group> groups) {
  std::vector<std::uint32_t> nodes;
  for (const Group& group : groups)
    for (const GpuId gpu : group) nodes.push_back(cluster.node_of(gpu));
  std::ranges::sort(nodes);
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

/// Which nodes plug into the same switches: by node, the first that does as it does.
class Alike {
 public:
  Alike(const std::vector<std::uint32_t>& kinds, std::span<const std::uint32_t> nodes) : kinds_(kinds), nodes_(nodes) {
    first_.assign(*std::ranges::max_element(kinds) + 1, kNobody);
    for (std::size_t i = 0; i < nodes.size(); ++i) here_.push_back(first(kinds_[nodes[i]], i));
    forget(0, nodes.size());
  }

  /// Whether that is the same among nodes so many before.
  bool so_far_before(std::uint32_t down) {
    std::size_t i = 0;
    while (i < nodes_.size() && first(kinds_[nodes_[i] - down], i) == here_[i]) ++i;
    forget(down, std::min(i + 1, nodes_.size()));
    return i == nodes_.size();
  }

 private:
  std::uint32_t first(std::uint32_t kind, std::size_t i) {
    if (first_[kind] == kNobody) first_[kind] = static_cast<std::uint32_t>(i);
    return first_[kind];
  }
  void forget(std::uint32_t down, std::size_t end) {
    for (std::size_t i = 0; i < end; ++i) first_[kinds_[nodes_[i] - down]] = kNobody;
  }

  const std::vector<std::uint32_t>& kinds_;
  std::span<const std::uint32_t> nodes_;
  std::vector<std::uint32_t> first_;  // by kind; scratch
  std::vector<std::uint32_t> here_;
};

}  // namespace

std::optional<EarlierPlace> EarlierPlace::find(const topology::Cluster& cluster, std::span<const Group> groups) {
  const std::vector<std::uint32_t>& kinds = cluster.kinds_of_nodes();
  if (kinds.empty()) return {};
  const std::vector<std::uint32_t> nodes = nodes_in_use(cluster, groups);
  Alike alike(kinds, nodes);
  int tries = 0;
  for (std::uint32_t down = nodes.front(); down > 0 && tries < kMostTries; --down) {
    if (!alike.so_far_before(down)) continue;
    ++tries;
    if (std::optional<topology::MovedNodes> moved = topology::MovedNodes::find(cluster, nodes, down)) {
      EarlierPlace made;
      made.gpus_ = down * cluster.gpus_per_node();
      made.nodes_ = *std::move(moved);
      return made;
    }
  }
  return {};
}

std::vector<Group> EarlierPlace::groups(std::span<const Group> later) const {
  std::vector<Group> result(later.begin(), later.end());
  for (Group& group : result)
    for (GpuId& gpu : group) gpu = GpuId{index(gpu) - gpus_};
  return result;
}

Timing EarlierPlace::timing(Timing earlier) const {
  for (Timing::Load& load : earlier.loads) load.link = nodes_.link(load.link);
  return earlier;
}

}  // namespace stepcast::collectives
