#include "language/frameworks/text/sections.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace stepcast::language {
namespace {

FileSection& inside(FileSection& section, std::string_view name) {
  const auto known = std::ranges::find(section.inner, name, &FileSection::name);
  if (known != section.inner.end()) return *known;
  return section.inner.emplace_back(FileSection{.name = std::string(name)});
}

}  // namespace

FileSection sections_of(const Statements& statements) {
  FileSection whole;
  for (const Statement& statement : statements) {
    FileSection* at = &whole;
    std::string_view rest = statement.name;
    for (std::size_t dot = rest.find('.'); dot != rest.npos; dot = rest.find('.')) {
      at = &inside(*at, rest.substr(0, dot));
      rest.remove_prefix(dot + 1);
    }
    inside(*at, rest).statement = statement;
  }
  return whole;
}

std::string value_text(const std::string& text) {
  const bool plain = text.starts_with('[') || nlohmann::json::accept(text);
  return plain ? text : nlohmann::json(text).dump();
}

std::string comment_lines(const std::vector<std::string>& lines, std::string_view mark) {
  std::string out;
  for (const std::string& line : lines) out += std::string(mark) + (line.empty() ? "" : " ") + line + "\n";
  return out;
}

bool is_yaml(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
    if (line.empty() || line.starts_with('#') || line.starts_with("---")) continue;
    const std::size_t colon = line.find(':');
    return colon != line.npos && line.find_first_of(" \t=$\"'(") > colon;
  }
  return false;
}

}  // namespace stepcast::language
