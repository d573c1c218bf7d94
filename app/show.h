#pragma once

#include <string>
#include <vector>

namespace stepcast::app {

struct CommandLine;

/// `stepcast show`: see its --help. Returns an exit status; throws InputError.
int show(const std::vector<std::string>& words);
CommandLine show_line();

}  // namespace stepcast::app
