#pragma once

#include <span>
#include <string>
#include <vector>

#include "language/core/given.h"
#include "language/core/tree.h"

namespace stepcast::language {

/// All --set ("key=value", "key=" takes a key away) and the keys that other options give, as one layer over a scenario.
/// Throws InputError for an unknown key, for two that contradict each other and for more than 1000.
Node settings_layer(std::span<const std::string> settings, std::vector<Given> given);

}  // namespace stepcast::language
