#include "app/help_text.h"

#include <fmt/format.h>

#include "app/command.h"

namespace stepcast::app {

std::string help_text() {
  std::string text =
      "stepcast - how long a training step takes, where time and memory go, and what would change if\n\n"
      "usage: stepcast COMMAND [OPTIONS]\n\n";
  for (const Command* command : commands())
    if (!command->hidden) text += fmt::format("  {:<12}{}\n", command->name, command->summary);
  return text + "\nstepcast COMMAND --help tells more; begin with: stepcast run scenarios/quickstart.yaml\n";
}

}  // namespace stepcast::app
