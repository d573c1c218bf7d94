#include "app/report/json_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "language/core/visible_text.h"

namespace stepcast::app {
namespace {

/// Of a character of the basic plane: 1 to 3 bytes.
unsigned code_point(std::string_view utf8) {
  unsigned code = utf8.size() == 1 ? 0x7f : utf8.size() == 2 ? 0x1f : 0x0f;
  code &= static_cast<unsigned char>(utf8[0]);
  for (const char byte : utf8.substr(1)) code = code << 6 | (static_cast<unsigned char>(byte) & 0x3fu);
  return code;
}

}  // namespace

std::string json_text(const nlohmann::ordered_json& document, int indent) {
  const std::string dumped = document.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  std::string out;
  out.reserve(dumped.size() + 1);
  for (std::size_t i = 0; i < dumped.size();) {
    const std::string_view rest = std::string_view(dumped).substr(i);
    const std::string_view character = rest.substr(0, language::utf8_length(rest));
    if (rest[0] != '\n' && language::is_control(character)) {
      out += fmt::format("\\u{:04x}", code_point(character));
    } else {
      out += character;
    }
    i += character.size();
  }
  return out + '\n';
}

}  // namespace stepcast::app
