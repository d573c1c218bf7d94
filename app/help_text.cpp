#include "app/help_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

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

std::string usage_text(const std::string& usage) {
  if (!tables_shown_on()) return usage + "\n";
  std::string out, joined;
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
    out += shown_line(line.substr(0, blanks), line.substr(blanks));
  }
  end_paragraph();
  return out;
}

}  // namespace stepcast::app
