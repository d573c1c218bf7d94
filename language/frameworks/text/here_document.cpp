#include "language/frameworks/text/here_document.h"

#include <algorithm>
#include <string_view>

#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::language {
namespace {

/// A line with its variables put in.
std::string expanded(std::string_view line, const ShellVariables& variables) {
  std::string out;
  for (std::size_t i = 0; i < line.size();) {
    const bool braced = line.substr(i).starts_with("${");
    std::size_t end = i + (braced ? 2 : 1);
    while (line[i] == '$' && end < line.size() && is_shell_name(line[end])) ++end;
    const std::size_t from = i + (braced ? 2 : 1);
    const auto known = variables.known.find(line.substr(from, end - from));
    const bool closed = !braced || (end < line.size() && line[end] == '}');
    if (line[i] == '$' && end > from && closed && known != variables.known.end()) {
      for (const ShellWord& word : known->second) out += (&word == &known->second.front() ? "" : " ") + word.text;
      i = end + (braced ? 1 : 0);
    } else {
      out += line[i++];
    }
  }
  return out;
}

}  // namespace

std::string read_lines(ShellText& text, const HereDocument& document, const ShellVariables& variables) {
  std::string lines;
  while (true) {
    if (text.ended())
      throw InputError(language::text(document.place),
                       "found a here-document that does not end, expected a line " + in_quotes(document.end));
    std::string_view line = text.next_line();
    if (document.strips) line.remove_prefix(std::min(line.find_first_not_of('\t'), line.size()));
    if (line == document.end) return lines;
    lines += (document.expands ? expanded(line, variables) : std::string(line)) + "\n";
  }
}

}  // namespace stepcast::language
