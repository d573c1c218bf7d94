#pragma once

#include <string>
#include <vector>

namespace stepcast::app {

/// `stepcast run`: see its --help. Returns an exit status; throws InputError.
int run(const std::vector<std::string>& words);

}  // namespace stepcast::app
