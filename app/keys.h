#pragma once

#include <string>
#include <vector>

namespace stepcast::app {

struct CommandLine;

/// `stepcast keys`: see its --help. Returns an exit status; throws InputError.
int keys(const std::vector<std::string>& words);
CommandLine keys_line();

/// What `stepcast keys` takes: every key of a scenario and what it is below, and the kinds of files.
std::vector<std::string> key_prefixes();

}  // namespace stepcast::app
