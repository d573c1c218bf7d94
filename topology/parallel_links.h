#pragma once

#include <cstdint>
#include <vector>

#include "topology/graph.h"

namespace stepcast::topology {

/// A route's choice among links between sockets that lie side by side: every such hop of `edges`, places in
/// graph.edges, takes the one whose turn `turn` is. So flows of unlike turns spread over the links between two sockets,
/// while one flow has what one link carries. Routes there and back of equal turns take the same link. O(hops edges).
void take_parallel_links(const Graph& graph, std::vector<std::uint32_t>& edges, std::uint32_t turn);

}  // namespace stepcast::topology
