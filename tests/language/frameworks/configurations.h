#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "language/frameworks/configuration.h"
#include "language/frameworks/frameworks.h"
#include "tests/language/fixtures.h"

namespace stepcast::language {

/// The scenario that an import makes.
inline schedules::Scenario imported(std::string_view framework, const std::string& text,
                                    std::vector<std::string> settings = {}) {
  Library library = configs();
  if (settings.empty()) settings = {"cluster.node=dgx-h100"};
  const std::string scenario =
      scenario_of_configuration(framework_named(std::string(framework), ""), text, "given", settings, library).text;
  return read_scenario(library.scenario("imported.yaml", scenario, scenario_schema()), library);
}

}  // namespace stepcast::language
