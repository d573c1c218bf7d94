#pragma once

#include <string>
#include <vector>

namespace stepcast::app {

struct CommandLine;

/// `stepcast run`: see its --help. Returns an exit status; throws InputError.
int run(const std::vector<std::string>& words);
CommandLine run_line();

}  // namespace stepcast::app
