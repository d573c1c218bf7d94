#pragma once

#include <string>
#include <vector>

namespace stepcast::app {

struct CommandLine;

/// `stepcast calibrate`: measures this machine, or takes a bundle measured elsewhere, and fits a profile to it.
int calibrate_machine(const std::vector<std::string>& words);
CommandLine calibrate_line();

}  // namespace stepcast::app
