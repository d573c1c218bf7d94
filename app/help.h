#pragma once

#include <string>
#include <vector>

namespace stepcast::app {

struct CommandLine;

/// What `stepcast` without a command, and `stepcast --help`, print.
std::string help_text();

/// `stepcast help [COMMAND]`: see its --help. Returns an exit status; throws InputError.
int help(const std::vector<std::string>& words);
CommandLine help_line();

}  // namespace stepcast::app
