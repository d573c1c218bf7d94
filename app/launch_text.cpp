#include "app/launch_text.h"

#include "language/core/nearest.h"
#include "language/core/streams.h"
#include "language/frameworks/emit.h"
#include "language/frameworks/frameworks.h"
#include "language/scenario_text.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::app {

language::Node launch_tree(const std::string& file, std::span<const std::vector<std::string>> layers,
                           language::Library& library) {
  // Words of --set name files from the working directory.
  return language::with_files_from(language::scenario_tree(language::input_named(file), layers, library), ".");
}

std::string launch_text(const language::Framework& framework, const schedules::Scenario& scenario,
                        const std::string& file, std::span<const std::vector<std::string>> layers,
                        language::Library& library) {
  return language::emit(framework, scenario, launch_tree(file, layers, library)).text;
}

const language::Framework& emitted_framework(const std::string& name) {
  std::vector<std::string_view> names{"yaml"};
  for (const language::Framework* framework : language::frameworks()) {
    if (framework->name == name) return *framework;
    names.push_back(framework->name);
  }
  throw InputError("--emit", "found " + in_quotes(name) + ", expected " + language::one_of(name, names));
}

}  // namespace stepcast::app
