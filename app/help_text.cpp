#include "app/help_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "app/command.h"
#include "app/report/paragraph.h"
#include "app/report/text_table.h"

namespace stepcast::app {

std::string help_text() {
  std::string text =
      shown_lines("stepcast - how long a training step takes, where time and memory go, and what would change if\n") +
      "\nusage: stepcast COMMAND [OPTIONS]\n\n";
  for (const Command* command : commands())
    if (!command->hidden) text += shown_line(fmt::format("  {:<12}", command->name), command->summary, 12);
  return text + "\n" +
         shown_line("", "stepcast COMMAND --help tells more; begin with: stepcast run scenarios/quickstart.yaml", 0);
}

namespace {

/// Split at blanks outside of quotes.
std::vector<std::string> words_of_command(const std::string& command) {
  std::vector<std::string> words;
  char quote = '\0';
  bool in_word = false;
  for (const char c : command) {
    if (c == ' ' && quote == '\0') {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    words.back() += c;
    if (quote == c)
      quote = '\0';
    else if (quote == '\0' && (c == '\'' || c == '"'))
      quote = c;
  }
  return words;
}

/// A command in lines that a shell reads as one.
std::string command_lines(const std::string& indent, const std::string& command) {
  constexpr std::string_view kGoesOn = " \\";
  const std::size_t width = tables_shown_on()->width;
  if (indent.size() + command.size() <= width) return indent + command + "\n";
  std::string out, line = indent;
  bool has_word = false;
  for (const std::string& word : words_of_command(command)) {
    if (has_word && line.size() + 1 + word.size() + kGoesOn.size() > width) {
      out += line + std::string(kGoesOn) + "\n";
      line = indent + "    ";
      has_word = false;
    }
    line += (has_word ? " " : "") + word;
    has_word = true;
  }
  return out + line + "\n";
}

}  // namespace

std::string usage_text(const std::string& usage) {
  if (!tables_shown_on()) return usage + "\n";
  std::string out, joined;
  bool goes_on = false;  // the line before ended in a backslash
  const auto end_paragraph = [&] {
    if (!joined.empty()) out += shown_line("", joined, 0);
    joined.clear();
  };
  std::istringstream lines(usage);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line[0] != ' ') {
      joined += (joined.empty() ? "" : " ") + line;
      continue;
    }
    end_paragraph();
    const std::size_t blanks = std::min(line.find_first_not_of(' '), line.size());
    const std::string indent = line.substr(0, blanks), text = line.substr(blanks);
    out += goes_on || text.starts_with("stepcast ") ? command_lines(indent, text) : shown_line(indent, text);
    goes_on = text.ends_with('\\');
  }
  end_paragraph();
  return out;
}

std::string options_text(const boost::program_options::options_description& options) {
  namespace po = boost::program_options;
  constexpr unsigned kNarrowest = 40;  // Boost's list needs some room
  const std::size_t width =
      tables_shown_on() ? tables_shown_on()->width : po::options_description::m_default_line_length;
  std::ostringstream text;
  if (width >= po::options_description::m_default_line_length) {
    text << options;
    return text.str();
  }
  po::options_description narrow("Options", std::max(static_cast<unsigned>(width), kNarrowest));
  for (const auto& option : options.options()) narrow.add(option);
  text << narrow;
  return text.str();
}

}  // namespace stepcast::app
