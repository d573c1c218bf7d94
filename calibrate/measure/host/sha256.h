#pragma once

#include <string>
#include <string_view>

namespace stepcast::measure {

/// SHA-256 of a text as 64 hex digits (FIPS 180-4). For naming a GPU without giving its UUID away.
std::string sha256(std::string_view text);

}  // namespace stepcast::measure
