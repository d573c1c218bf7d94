#pragma once

#include <string>
#include <vector>

namespace stepcast::app {

/// `stepcast collective`: see its --help. Returns an exit status; throws InputError.
int collective(const std::vector<std::string>& words);

}  // namespace stepcast::app
