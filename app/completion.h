#pragma once

#include <string>
#include <vector>

namespace stepcast::app {

struct CommandLine;

/// The shells that `stepcast completion` knows.
std::vector<std::string> shells();

/// `stepcast completion`: see its --help. Returns an exit status; throws InputError.
int completion(const std::vector<std::string>& words);
CommandLine completion_line();

}  // namespace stepcast::app
