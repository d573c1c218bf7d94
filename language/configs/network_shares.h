#pragma once

#include <vector>

#include "collectives/transport.h"
#include "language/core/read_mapping.h"

namespace stepcast::language {

/// A list such as [0.9 at 2, 0.4 at 16]: shares of the network's rate, (0, 1], of groups over so many nodes, which
/// rise. Fails at the item that is none.
std::vector<collectives::ShareOverNodes> network_shares(const Value& list);

}  // namespace stepcast::language
