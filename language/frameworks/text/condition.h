#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "language/frameworks/text/shell_word.h"

namespace stepcast::language {

/// What is known of whether something of a script holds, or runs.
enum class Truth : std::uint8_t { no, yes, unknown };

Truth opposite(Truth truth);
Truth both(Truth a, Truth b);
Truth either(Truth a, Truth b);

/// Of a test's words: "[[ a == b ]]", "[ -z a ]", "[ a ]", "[ 4 -gt 1 ]", "true", each also behind "!". Unknown for any
/// other command, and where a word is not known.
Truth holds(std::span<const ShellWord> words);

/// Whether a text fits a pattern of `case`; unknown where either has a variable, or the pattern a wildcard other than
/// '*' and '?'.
Truth fits(const std::string& text, const std::string& pattern);

}  // namespace stepcast::language
