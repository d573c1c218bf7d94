#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stepcast::language {

/// Whether the whole of a text fits a pattern of a shell: '*' is any text, '?' any character. Nothing for a pattern
/// with other wildcards, or with a variable. O(text x pattern).
std::optional<bool> fits_pattern(std::string_view text, std::string_view pattern);

enum class PatternEnd : std::uint8_t { front, back };

/// "${NAME#pattern}" and "${NAME%pattern}": the text without the shortest, or the longest, piece at an end that fits.
/// Nothing where that is not known, and of a text longer than any path.
std::optional<std::string> without_fitting(std::string_view text, std::string_view pattern, PatternEnd end,
                                           bool longest);

}  // namespace stepcast::language
