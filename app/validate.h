#pragma once

#include <string>
#include <vector>

namespace stepcast::app {

struct CommandLine;

/// `stepcast validate`: see its --help. Returns an exit status; throws InputError.
int validate(const std::vector<std::string>& words);
CommandLine validate_line();

}  // namespace stepcast::app
