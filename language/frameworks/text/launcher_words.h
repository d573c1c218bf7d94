#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "language/frameworks/text/shell_word.h"

namespace stepcast::language {

/// How many of a command's words stand in front of the program that it trains with, and are those of what starts that
/// program: torchrun and its like, and what only runs another command (numactl, env, nsys). Of accelerate, whose flags
/// say how to train, those in front of it. 0 where the words name no such starter, or no program: "NAME.py", or
/// "-m MODULE" of Python and torchrun.
std::size_t words_of_launcher(std::span<const ShellWord> words);

/// "-m", "-lu": an option of one letter or several in one word. Of a launcher's words it ends the values of the flag in
/// front of it; of a program's a value may look so.
bool is_short_option(std::string_view word);

}  // namespace stepcast::language
