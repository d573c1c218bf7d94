#include "language/settings.h"

#include <utility>

#include "language/scenario.h"
#include "sim/input_error.h"

namespace stepcast::language {
namespace {

constexpr std::size_t kMostSettings = 1000;  // each is laid over each scenario

}  // namespace

Node settings_layer(std::span<const std::string> settings, std::vector<Given> given) {
  if (settings.size() > kMostSettings) {
    throw InputError("--set", "found " + std::to_string(settings.size()) + " of them, expected at most 1000");
  }
  for (const std::string& setting : settings) {
    given.push_back(read_set(scenario_schema(), setting));
    if (const auto& [key, value, place] = given.back(); value.empty() && (key == "base" || key == "include"))
      fail(place, "", "expected a file (what a base brings is taken away key by key: --set key=)");
  }
  return layer_of(scenario_schema(), std::move(given), {"--set", 0, 0});
}

}  // namespace stepcast::language
