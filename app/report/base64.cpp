#include "app/report/base64.h"

#include <string_view>

namespace stepcast::app {

std::string base64(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto at = [&](std::size_t k) { return i + k < bytes.size() ? std::uint32_t{bytes[i + k]} : 0u; };
    const std::uint32_t three = at(0) << 16 | at(1) << 8 | at(2);
    out += kDigits[three >> 18];
    out += kDigits[three >> 12 & 63u];
    out += i + 1 < bytes.size() ? kDigits[three >> 6 & 63u] : '=';
    out += i + 2 < bytes.size() ? kDigits[three & 63u] : '=';
  }
  return out;
}

}  // namespace stepcast::app
