#pragma once

#include <map>
#include <string>

#include "language/core/tree.h"

namespace stepcast::app {

/// Every key that a scenario says, with its value, but for what a comparison tells elsewhere: name, note and source.
std::map<std::string, std::string> said_keys(const language::Node& scenario);

}  // namespace stepcast::app
