// Any bytes as a scenario file: read to the end, or refused with an InputError; never anything else.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "language/core/yaml.h"
#include "language/scenario.h"
#include "scenario/scenario.h"
#include "schedules/checks/check.h"
#include "sim/input_error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stepcast;
  static language::Library library(STEPCAST_SOURCE_DIR "/configs");
  try {
    const language::Node tree = language::parse_yaml({reinterpret_cast<const char*>(data), size}, "fuzz.yaml");
    if (tree.find("base") != nullptr || tree.find("include") != nullptr) return 0;  // would read files of this machine
    schedules::check(language::read_scenario(tree, library));
  } catch (const InputError&) {
  }
  return 0;
}
