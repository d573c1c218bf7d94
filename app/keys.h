#pragma once

#include <string>
#include <vector>

namespace stepcast::app {

/// `stepcast keys`: see its --help. Returns an exit status; throws InputError.
int keys(const std::vector<std::string>& words);

}  // namespace stepcast::app
