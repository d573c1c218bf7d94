#include "app/help.h"

#include <fmt/format.h>

#include "app/command.h"
#include "app/options.h"
#include "app/output.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::app {

std::string help_text() {
  std::string text =
      "stepcast - how long a training step takes, where time and memory go, and what would change if\n\n"
      "usage: stepcast COMMAND [OPTIONS]\n\n";
  for (const Command& command : commands())
    if (!command.hidden) text += fmt::format("  {:<12}{}\n", command.name, command.summary);
  return text + "\nstepcast COMMAND --help tells more; begin with: stepcast run scenarios/quickstart.yaml\n";
}

CommandLine help_line() {
  return {"usage: stepcast help [COMMAND]\n\nThe list of commands, or what COMMAND --help prints.",
          boost::program_options::options_description("Options")};
}

int help(const std::vector<std::string>& words) {
  const auto values = parse_options(words, help_line());
  if (!values) return kDone;
  const auto names = (*values)["path"].as<std::vector<std::string>>();
  if (names.size() > 1) throw InputError("stepcast help", "found " + in_quotes(names[1]) + ", expected one command");
  if (!names.empty()) return find_command(names.front()).run({"--help"});
  write_output("", help_text());
  return kDone;
}

}  // namespace stepcast::app
