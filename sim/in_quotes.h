#pragma once

#include <string>
#include <string_view>

namespace stepcast {

/// What was found, as messages show it: in single quotes, control characters as blanks, and of a long text the first 60
/// characters and dots.
std::string in_quotes(std::string_view text);

}  // namespace stepcast
