#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stepcast {

/// Of a text longer than `most` bytes the first so many, whole characters of UTF-8, and dots. Control characters stay:
/// who prints makes them visible.
std::string shortened(std::string_view text, std::size_t most = 60);

/// What was found, as messages show it: shortened, in single quotes.
std::string in_quotes(std::string_view text);

}  // namespace stepcast
