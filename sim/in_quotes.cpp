#include "sim/in_quotes.h"

namespace stepcast {

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  std::string shown = "'";
  for (const char c : text) {
    const bool starts = (static_cast<unsigned char>(c) & 0xc0u) != 0x80u;  // a character of UTF-8
    if (shown.size() > kLongest && (starts || shown.size() > kLongest + 4)) {
      shown += "...";
      break;
    }
    shown += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  }
  return shown + "'";
}

}  // namespace stepcast
