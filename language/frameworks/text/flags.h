#pragma once

#include <span>
#include <string>

#include "language/frameworks/text/shell_word.h"
#include "language/frameworks/text/statement.h"

namespace stepcast::language {

/// The flags of a command's words, each with the words behind it, and a note on each variable that nothing sets and
/// that may hold further ones. Throws InputError where there are none, and where a variable may hold flags that are not
/// known.
ReadStatements flags_of(std::span<const ShellWord> words, const std::string& file);

}  // namespace stepcast::language
