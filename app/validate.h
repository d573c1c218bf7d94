#pragma once

#include <string>
#include <vector>

namespace stepcast::app {

/// `stepcast validate`: see its --help. Returns an exit status; throws InputError.
int validate(const std::vector<std::string>& words);

}  // namespace stepcast::app
