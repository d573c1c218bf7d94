#include "app/report/paragraph.h"

#include <algorithm>
#include <sstream>

#include "app/report/text_table.h"

namespace stepcast::app {

std::string paragraph(std::string_view head, std::string_view text, std::size_t width, std::size_t further) {
  const std::size_t blanks = std::min(head.find_first_not_of(' '), head.size());
  const std::string indent(blanks == head.size() ? blanks : blanks + further, ' ');
  std::string out, line(head);
  bool has_word = false;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word; has_word = true) {
    if (has_word && line.size() + 1 + word.size() > width) {
      out += line + "\n";
      line = indent + word;
    } else {
      line += (has_word ? " " : "") + word;
    }
  }
  return out + line + "\n";
}

std::string shown_line(std::string_view head, std::string_view text, std::size_t further) {
  const std::optional<Terminal>& shown_on = tables_shown_on();
  if (shown_on && head.size() + text.size() > shown_on->width) return paragraph(head, text, shown_on->width, further);
  return std::string(head) + std::string(text) + "\n";
}

std::string shown_lines(const std::string& text) {
  if (!tables_shown_on()) return text;
  std::string out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) out += shown_line("", line);
  return out;
}

}  // namespace stepcast::app
