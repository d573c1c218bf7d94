#include "schedules/parallel/expert_nodes.h"

#include <algorithm>

namespace stepcast::schedules {

using collectives::Group;

std::vector<Group> by_node(const Ranks& ranks, const Group& group) {
  std::vector<Group> nodes;
  for (const topology::GpuId gpu : group) {
    const auto own =
        std::ranges::find_if(nodes, [&](const Group& node) { return ranks.node(node.front()) == ranks.node(gpu); });
    (own != nodes.end() ? *own : nodes.emplace_back()).push_back(gpu);
  }
  return nodes;
}

std::vector<Group> rails(std::span<const Group> nodes) {
  std::vector<Group> out(nodes.front().size());
  for (const Group& node : nodes)
    for (std::size_t i = 0; i < out.size(); ++i) out[i].push_back(node[i]);
  return out;
}

double expected_nodes(std::uint32_t nodes, std::int64_t each, std::int64_t active, std::uint32_t limit) {
  const std::int64_t m = std::min(limit, nodes);
  double missed = 1;  // that none of the experts is on a certain one of the m nodes
  for (std::int64_t i = 0; i < active; ++i)
    missed *= static_cast<double>(std::max<std::int64_t>((m - 1) * each - i, 0)) / static_cast<double>(m * each - i);
  return static_cast<double>(m) * (1 - missed);
}

}  // namespace stepcast::schedules
