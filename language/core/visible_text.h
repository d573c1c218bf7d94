#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stepcast::language {

/// Length of the UTF-8 sequence at the start of `text`; 0 where there is none (overlong ones and surrogates included).
std::size_t utf8_length(std::string_view text);

/// `text`, of names and files, as a terminal may show it: control characters (line ends and escape sequences among
/// them), marks that turn the direction of writing and bytes that are no UTF-8 stand as escapes: \n, \x1b, \u009b.
std::string visible(std::string_view text);

/// The same, with line ends kept.
std::string visible_lines(std::string_view text);

/// Whether the character whose UTF-8 stands at the start of `text` is one that visible() does not show as it is.
bool is_control(std::string_view text);

}  // namespace stepcast::language
