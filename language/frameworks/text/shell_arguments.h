#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "language/frameworks/text/shell_text.h"

namespace stepcast::language {

// Arguments of a script, a function or a file that is taken in, among the variables: $1 ..., $@ and $#.

/// Whether it is digits alone.
bool is_number(std::string_view text);

void set_arguments(ShellVariables& variables, std::vector<ShellWord> arguments);
/// Behind a function or a file that has arguments of its own.
void give_back_arguments(ShellVariables& variables, const ShellVariables& before);
std::vector<std::string> names_of_arguments(const ShellVariables& variables);

}  // namespace stepcast::language
