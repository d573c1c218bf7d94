#pragma once

#include <string>
#include <vector>

namespace stepcast::app {

/// What `stepcast topology --json` prints with these words ("--nodes=2", "--", "dgx-h100"), none of which is --help.
/// Throws InputError.
std::string topology_as_json(const std::vector<std::string>& words);

}  // namespace stepcast::app
