#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace stepcast::app {

/// Bytes as text of A-Z, a-z, 0-9, + and / (RFC 4648, section 4), padded with =.
std::string base64(std::span<const std::uint8_t> bytes);

}  // namespace stepcast::app
