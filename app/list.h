#pragma once

#include <string>
#include <vector>

namespace stepcast::app {

struct CommandLine;

/// `stepcast list`: see its --help. Returns an exit status; throws InputError.
int list(const std::vector<std::string>& words);
CommandLine list_line();

}  // namespace stepcast::app
