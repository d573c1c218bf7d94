#pragma once

#include <string>
#include <vector>

namespace stepcast::app {

struct CommandLine;

/// `stepcast collective`: see its --help. Returns an exit status; throws InputError.
int collective(const std::vector<std::string>& words);
CommandLine collective_line();

}  // namespace stepcast::app
