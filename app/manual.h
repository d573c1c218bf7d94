#pragma once

#include <string>
#include <vector>

namespace stepcast::app {

struct CommandLine;

/// `stepcast man`: the manual page, made of every command's help. Returns an exit status; throws InputError.
int manual(const std::vector<std::string>& words);
CommandLine manual_line();

}  // namespace stepcast::app
