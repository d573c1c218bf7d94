#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace stepcast::topology {

/// Without the blanks at both ends.
std::string_view trim(std::string_view text);

/// A whole number in decimal digits alone; nothing for other text and beyond 32 bits.
std::optional<std::uint32_t> parse_number(std::string_view text);

}  // namespace stepcast::topology
