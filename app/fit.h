#pragma once

#include <string>
#include <vector>

namespace stepcast::app {

/// `stepcast fit`: see its --help. Returns an exit status; throws InputError.
int fit(const std::vector<std::string>& words);

}  // namespace stepcast::app
