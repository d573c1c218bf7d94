#pragma once

#include "language/core/schema.h"
#include "scenario/network.h"

namespace stepcast::language {

/// The entries of a `network:` list. Throws InputError for an entry that is no layer, and for keys that its `op` lacks
/// or has no use for.
std::vector<schedules::NetworkLayer> read_network(const Value& value);

/// The reference of an entry's keys: "op", "out" ... with their types and defaults, as of a block.
const Schema& network_schema();

}  // namespace stepcast::language
