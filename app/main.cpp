#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/read/nearest.h"
#include "sim/input_error.h"

namespace {

using stepcast::app::Command;
using stepcast::app::commands;

std::string help() {
  std::string text =
      "stepcast - how long a training step takes, where time and memory go, and what would change if\n\n"
      "usage: stepcast COMMAND [OPTIONS]\n\n";
  for (const Command& command : commands()) text += fmt::format("  {:<12}{}\n", command.name, command.summary);
  return text + "\nstepcast COMMAND --help tells more; begin with: stepcast run scenarios/quickstart.yaml\n";
}

int dispatch(const std::vector<std::string>& words) {
  if (words.empty()) {
    std::fputs(help().c_str(), stderr);
    return stepcast::app::kBadInput;
  }
  if (words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
    std::fputs(help().c_str(), stdout);
    return stepcast::app::kDone;
  }
  if (words[0] == "--version") {
    std::puts("stepcast " STEPCAST_VERSION);
    return stepcast::app::kDone;
  }
  std::vector<std::string_view> names;
  for (const Command& command : commands()) {
    if (command.name == words[0]) return command.run({words.begin() + 1, words.end()});
    names.push_back(command.name);
  }
  throw stepcast::InputError("stepcast",
                             "unknown command '" + words[0] + "', expected " + stepcast::app::one_of(words[0], names));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return dispatch({argv + 1, argv + argc});
  } catch (const stepcast::InputError& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return stepcast::app::kBadInput;
  } catch (const std::logic_error& e) {
    std::fprintf(stderr, "stepcast: internal error: %s\n", e.what());
    return stepcast::app::kFailed;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "stepcast: %s\n", e.what());
    return stepcast::app::kFailed;
  }
}
