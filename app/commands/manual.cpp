#include <string_view>

#include "app/command.h"
#include "app/options.h"
#include "app/output.h"
#include "app/version.h"

namespace stepcast::app {
namespace {

/// Text as troff takes it: backslashes and hyphens escaped, no line beginning with a control character.
std::string troff(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if ((c == '.' || c == '\'') && (i == 0 || text[i - 1] == '\n')) out += "\\&";
    out += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
  }
  return out;
}

std::string options(const CommandLine& line) {
  std::string out;
  for (const auto& option : line.options.options()) {
    const bool takes_value = option->semantic()->max_tokens() > 0;
    out += ".TP\n.B " + troff("--" + option->long_name()) +
           (takes_value ? " \\fR" + troff(option->format_parameter()) : "") + "\n" + troff(option->description()) +
           "\n";
  }
  return out;
}

constexpr const char* kFiles = R"(.SH FILES
A name such as
.I h100\-sxm5\-80gb
is a file of a folder of these, the first one that has it:
.TP
.B $STEPCAST_CONFIGS
folders, with colons between them
.TP
.B $XDG_CONFIG_HOME/stepcast/configs
by default ~/.config/stepcast/configs: your own
.TP
.B PREFIX/share/stepcast/configs
the library's
.PP
Each has the subfolders gpus, nodes, links, fabrics, clusters, models, software and profiles.
.SH ENVIRONMENT
.TP
.B STEPCAST_CONFIGS, XDG_CONFIG_HOME
see FILES
.TP
.B STEPCAST_MEASURE
the program that
.B stepcast calibrate
measures with
.TP
.B NO_COLOR, COLUMNS
no colour; the width of tables and drawings
.TP
.B STEPCAST_PROGRESS
seconds before a command first says how far it is, and between its lines in a log; none: it never does
.SH EXIT STATUS
.TP
.B 0
done
.TP
.B 1
something could not be done: a file not written, a row of a table not run
.TP
.B 2
wrong input: a file, an option, a name
.TP
.B 3
a plan does not fit in the memory of its GPUs
.TP
.B 4
this machine cannot measure
)";

std::string page() {
  std::string out =
      ".TH STEPCAST 1 \"\" \"stepcast " + std::string(version()) + "\" \"User Commands\"\n" +
      ".SH NAME\nstepcast \\- forecasts steps of distributed deep\\-learning training\n"
      ".SH SYNOPSIS\n.B stepcast\n.I COMMAND\n.RI [ OPTIONS ]\n"
      ".SH DESCRIPTION\nHow long a training step takes on a cluster, where the time and the memory go, and "
      "what would change if:\nfrom a YAML file that says the cluster, the model and the parallel plan.\n"
      ".SH COMMANDS\n";
  for (const Command* command : commands()) {
    if (command->hidden) continue;
    const CommandLine line = command->line();
    out += ".SS " + std::string(command->name) + "\n.nf\n" + troff(line.usage) + "\n.fi\n" + options(line);
  }
  return out + kFiles;
}

CommandLine manual_line() {
  namespace po = boost::program_options;
  po::options_description options("Options");
  options.add_options()("output", po::value<std::string>()->default_value("", ""),
                        "write to this file instead of standard output");
  return {"usage: stepcast man [OPTIONS]\n\nPrints the manual page in troff: stepcast man | man -l -", options};
}

int manual(const std::vector<std::string>& words) {
  const auto values = parse_options(words, manual_line());
  if (!values) return kDone;
  write_output((*values)["output"].as<std::string>(), page());
  return kDone;
}

}  // namespace

extern const Command manual_command;
constinit const Command manual_command{"man", "the manual page, for man(1)", manual_line, manual, true};

}  // namespace stepcast::app
