#pragma once

#include <string>
#include <vector>

namespace stepcast::app {

/// The shells that `stepcast completion` knows.
std::vector<std::string> shells();

}  // namespace stepcast::app
