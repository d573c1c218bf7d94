#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "language/core/tree.h"

namespace stepcast::language {

/// A word of a command.
struct ShellWord {
  std::string text;
  Place place{};
};

/// The command of a shell script, or of a command line, that has the most words that begin with "--": its words, with
/// quotes taken off and variables, arrays and sums of whole numbers put in ("${FLAGS[@]}", "${NODES:-4}",
/// "$((A*B))"). Of an `if` that compares texts the branch that runs is read, of any other both are. What cannot be
/// known
/// ("$1", "$(hostname)") stays as it is written. Throws InputError where a quote or an array does not end.
std::vector<ShellWord> command_of(std::string_view text, const std::string& file);

}  // namespace stepcast::language
