#include "language/sites/slurm_pairs.h"

#include <algorithm>
#include <cctype>

#include "language/core/type.h"
#include "sim/in_quotes.h"

namespace stepcast::language {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// Whether a word begins with "Key=": a letter, and letters, digits, '_' and '/' behind it.
std::size_t key_length(std::string_view word) {
  std::size_t length = 0;
  while (length < word.size() &&
         (std::isalnum(static_cast<unsigned char>(word[length])) != 0 || word[length] == '_' || word[length] == '/'))
    ++length;
  const bool begins_well = length > 0 && std::isalpha(static_cast<unsigned char>(word.front())) != 0;
  return begins_well && length < word.size() && word[length] == '=' ? length : 0;
}

/// Appends the pairs of one line of text.
void read_line(std::string_view line, Place at, std::vector<SlurmPair>& pairs) {
  const std::uint32_t first_column = at.column;
  for (std::size_t begin = 0; begin < line.size();) {
    if (is_blank(line[begin])) {
      ++begin;
      continue;
    }
    std::size_t end = begin;
    while (end < line.size() && !is_blank(line[end])) ++end;
    const std::string_view word = line.substr(begin, end - begin);
    at.column = first_column + static_cast<std::uint32_t>(begin);
    if (const std::size_t length = key_length(word); length > 0) {
      Place value = at;
      value.column += static_cast<std::uint32_t>(length + 1);
      pairs.push_back({std::string(word.substr(0, length)), std::string(word.substr(length + 1)), at, value});
    } else if (!pairs.empty()) {
      pairs.back().value.append(pairs.back().value.empty() ? "" : " ").append(word);
    } else {
      fail(at, "", "found " + in_quotes(word) + ", expected pairs such as SwitchName=leaf1");
    }
    begin = end;
  }
}

}  // namespace

bool same_key(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
  });
}

std::vector<std::vector<SlurmPair>> read_slurm_pairs(std::string_view text, const std::string& file, bool comments) {
  std::vector<std::vector<SlurmPair>> lines;
  bool goes_on = false;
  std::uint32_t number = 0;
  for (std::size_t start = 0; start < text.size();) {
    std::size_t end = text.find('\n', start);
    if (end == std::string_view::npos) end = text.size();
    std::string_view line = text.substr(start, end - start);
    start = end + 1;
    ++number;
    if (comments) line = line.substr(0, line.find('#'));
    while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
    const bool more = line.ends_with('\\');
    if (more) line.remove_suffix(1);
    if (!goes_on) lines.emplace_back();
    read_line(line, {file, number, 1}, lines.back());
    goes_on = more;
  }
  std::erase_if(lines, [](const std::vector<SlurmPair>& line) { return line.empty(); });
  return lines;
}

}  // namespace stepcast::language
