#pragma once

#include <string>
#include <vector>

namespace stepcast::app {

/// What `stepcast` without a command, and `stepcast --help`, print.
std::string help_text();

}  // namespace stepcast::app
