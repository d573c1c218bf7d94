#pragma once

#include <string>
#include <vector>

namespace stepcast::app {

struct CommandLine;

/// `stepcast fit`: see its --help. Returns an exit status; throws InputError.
int fit(const std::vector<std::string>& words);
CommandLine fit_line();

}  // namespace stepcast::app
