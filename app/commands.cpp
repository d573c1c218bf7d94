#include <array>

#include "app/command.h"
#include "language/core/nearest.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::app {

extern const Command run_command, validate_command, diff_command, search_command, layouts_command, sensitivity_command,
    plan_command, sweep_command, merge_command, emit_command, import_command, topology_command, collective_command,
    flows_command, replay_command, report_command, calibrate_command, fit_command, list_command, show_command,
    keys_command, completion_command, help_command, complete_command, manual_command;

std::span<const Command* const> commands() {
  static constexpr std::array all{
      &run_command,         &diff_command,       &validate_command,   &search_command,   &layouts_command,
      &sensitivity_command, &plan_command,       &sweep_command,      &merge_command,    &emit_command,
      &import_command,      &topology_command,   &collective_command, &flows_command,    &replay_command,
      &report_command,      &calibrate_command,  &fit_command,        &list_command,     &show_command,
      &keys_command,        &completion_command, &help_command,       &complete_command, &manual_command};
  return all;
}

Candidates command_candidates() {
  Candidates all;
  for (const Command* command : commands())
    if (!command->hidden) all.push_back({std::string(command->name), std::string(command->summary)});
  return all;
}

const Command& find_command(const std::string& name) {
  std::vector<std::string_view> names;
  for (const Command* command : commands()) {
    if (command->name == name) return *command;
    if (!command->hidden) names.push_back(command->name);
  }
  names.insert(names.end(), {"--help", "--version"});
  const std::string what = name.starts_with('-') ? "option " : "command ";
  throw InputError("stepcast",
                   "unknown " + what + in_quotes(name) + ", expected " + language::one_of(name, names, names.size()));
}

}  // namespace stepcast::app
