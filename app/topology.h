#pragma once

#include <string>
#include <vector>

namespace stepcast::app {

struct CommandLine;

/// `stepcast topology`: see its --help. Returns an exit status; throws InputError.
int show_topology(const std::vector<std::string>& words);
CommandLine topology_line();

}  // namespace stepcast::app
