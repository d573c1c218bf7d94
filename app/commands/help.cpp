#include "app/command.h"
#include "app/help_text.h"
#include "app/options.h"
#include "app/output.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::app {

namespace {

CommandLine help_line() {
  return {
      "usage: stepcast help [COMMAND]\n\nThe list of commands, or what COMMAND --help prints.\n\n  stepcast help run\n "
      " stepcast help search",
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

}  // namespace

extern const Command help_command;
constinit const Command help_command{.name = "help",
                                     .summary = "this list, or the help of a command",
                                     .line = help_line,
                                     .run = help,
                                     .words = [](const std::string&) { return command_candidates(); }};

}  // namespace stepcast::app
