#pragma once

#include <string>

#include "topology/cluster.h"

namespace stepcast::topology {

/// The cluster in Graphviz's language, one cluster of devices per node, links of both directions as one line. For
/// `dot -Tsvg`. O(devices + links).
std::string to_dot(const Cluster& cluster);

}  // namespace stepcast::topology
