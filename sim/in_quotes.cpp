#include "sim/in_quotes.h"

namespace stepcast {

std::string shortened(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  const auto continues = [&](std::size_t i) { return (static_cast<unsigned char>(text[i]) & 0xc0u) == 0x80u; };
  std::size_t end = most;
  while (end > 0 && end + 3 > most && continues(end)) --end;
  return std::string(text.substr(0, end)) + "...";
}

std::string in_quotes(std::string_view text) { return "'" + shortened(text) + "'"; }

}  // namespace stepcast
