#pragma once

#include <string>
#include <vector>

namespace stepcast::app {

/// What `stepcast keys` takes: every key of a scenario and what it is below, and the kinds of files.
std::vector<std::string> key_prefixes();

}  // namespace stepcast::app
