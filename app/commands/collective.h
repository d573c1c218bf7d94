#pragma once

#include <string>
#include <vector>

namespace stepcast::app {

/// What `stepcast collective --format json` prints with these options ("--node=dgx-h100"), none of which is --help.
/// Throws InputError.
std::string collective_as_json(const std::vector<std::string>& words);

}  // namespace stepcast::app
