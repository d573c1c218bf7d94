// Any bytes as a scenario file: read to the end, or refused with an InputError; never anything else.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "app/read/scenario.h"
#include "app/read/yaml.h"
#include "schedules/scenario.h"
#include "sim/input_error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stepcast;
  static app::Library library(STEPCAST_SOURCE_DIR "/configs");
  try {
    const app::Node tree = app::parse_yaml({reinterpret_cast<const char*>(data), size}, "fuzz.yaml");
    if (tree.find("base") != nullptr || tree.find("include") != nullptr) return 0;  // would read files of this machine
    schedules::check(app::read_scenario(tree, library));
  } catch (const InputError&) {
  }
  return 0;
}
