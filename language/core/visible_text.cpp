#include "language/core/visible_text.h"

#include <fmt/format.h>

namespace stepcast::language {
namespace {

/// Of a sequence of `length` bytes that utf8_length() found at the start of `text`.
unsigned code_point(std::string_view text, std::size_t length) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(text[i])); };
  if (length == 1) return byte(0);
  unsigned code = byte(0) & (0xffu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) code = code << 6 | (byte(i) & 0x3fu);
  return code;
}

bool is_control(unsigned code) {
  const bool turns_writing = code == 0x61c || code == 0x200e || code == 0x200f || (code >= 0x202a && code <= 0x202e) ||
                             (code >= 0x2066 && code <= 0x2069);
  const bool ends_line = code == 0x2028 || code == 0x2029;
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || turns_writing || ends_line;
}

std::string escaped(std::string_view text, bool keep_line_ends) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view rest = text.substr(i);
    const std::size_t length = utf8_length(rest);
    const unsigned code = length == 0 ? static_cast<unsigned char>(rest[0]) : code_point(rest, length);
    if (code == '\n') {
      out += keep_line_ends ? "\n" : "\\n";
    } else if (code == '\t') {
      out += "\\t";
    } else if (code == '\r') {
      out += "\\r";
    } else if (length == 0 || (length == 1 && is_control(code))) {
      out += fmt::format("\\x{:02x}", code);
    } else if (is_control(code)) {
      out += fmt::format("\\u{:04x}", code);
    } else {
      out += rest.substr(0, length);
    }
    i += length == 0 ? 1 : length;
  }
  return out;
}

}  // namespace

std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0u) != 0x80u) return 0;
  const unsigned code = code_point(text, length);
  constexpr unsigned kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kSmallest[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return 0;
  return length;
}

std::string visible(std::string_view text) { return escaped(text, false); }

std::string visible_lines(std::string_view text) { return escaped(text, true); }

bool is_control(std::string_view text) {
  const std::size_t length = utf8_length(text);
  return length == 0 || is_control(code_point(text, length));
}

}  // namespace stepcast::language
