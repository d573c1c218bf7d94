#include <array>

#include "app/calibrate.h"
#include "app/collective.h"
#include "app/command.h"
#include "app/complete.h"
#include "app/completion.h"
#include "app/fit.h"
#include "app/help.h"
#include "app/keys.h"
#include "app/list.h"
#include "app/manual.h"
#include "app/options.h"
#include "app/run.h"
#include "app/show.h"
#include "app/topology.h"
#include "app/validate.h"
#include "language/core/nearest.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::app {

std::span<const Command> commands() {
  static constexpr std::array all{
      Command{"run", "forecast scenarios: step time, where it goes, memory", run_line, run},
      Command{"validate", "predicted beside measured for runs that state what they took", validate_line, validate},
      Command{"topology", "the links of a machine and the ways between its GPUs; import and export", topology_line,
              show_topology},
      Command{"collective", "time collectives as nccl-tests prints them, all algorithms, against a log",
              collective_line, collective},
      Command{"calibrate", "measure this machine's GPUs, or take a bundle of measurements, and fit a profile to them",
              calibrate_line, calibrate_machine},
      Command{"fit", "fit a GPU's multiply model to a table of measured multiplies", fit_line, fit},
      Command{"list", "the GPUs, nodes, models, ... that there are", list_line, list},
      Command{"show", "all that is known of one of them, with its source", show_line, show},
      Command{"keys", "every key of the scenario language", keys_line, keys},
      Command{"completion", "the script that completes words in bash, zsh or fish", completion_line, completion},
      Command{"help", "this list, or the help of a command", help_line, help},
      Command{"complete", "what a word of a command line can be", complete_line, complete, true},
      Command{"man", "the manual page, for man(1)", manual_line, manual, true},
  };
  return all;
}

const Command& find_command(const std::string& name) {
  std::vector<std::string_view> names;
  for (const Command& command : commands()) {
    if (command.name == name) return command;
    if (!command.hidden) names.push_back(command.name);
  }
  names.insert(names.end(), {"--help", "--version"});
  const std::string what = name.starts_with('-') ? "option " : "command ";
  throw InputError("stepcast", "unknown " + what + in_quotes(name) + ", expected " + language::one_of(name, names));
}

}  // namespace stepcast::app
