#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "schedules/parallel/ranks.h"

namespace stepcast::schedules {

/// Ranks of a group by the node that they are on, nodes and ranks in the order of the group.
std::vector<collectives::Group> by_node(const Ranks& ranks, const collectives::Group& group);

/// Ranks at one place of each node: the n-th of all, for every n. Requires as many ranks on every node.
std::vector<collectives::Group> rails(std::span<const collectives::Group> nodes);

/// Nodes on which a token's `active` experts lie, on average, if every choice is as likely: of experts spread evenly
/// over `nodes`, `each` on one, it takes them from `limit` nodes at most. With m = min(limit, nodes), by the
/// hypergeometric distribution: m (1 - C((m - 1) each, active) / C(m each, active)). Requires active <= m each.
/// Source of the limit: DeepSeek-V2 (arXiv 2405.04434), sec. 2.2.2; DeepSeek-V3 (arXiv 2412.19437), sec. 2.1.2. That
/// the experts on the m nodes are all as likely is ours: real routers take nodes for their best experts.
double expected_nodes(std::uint32_t nodes, std::int64_t each, std::int64_t active, std::uint32_t limit);

}  // namespace stepcast::schedules
