// Any bytes as a scenario file, read and then forecast: a whole forecast, or refused with an InputError. Scenarios
// whose forecast would take long are only read and checked.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/devices.h"
#include "tests/fuzz/scenarios/outcome.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stepcast;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (test::names_devices(text)) return 0;
  static language::Library library(STEPCAST_SOURCE_DIR "/configs");
  test::outcome_of(text, library, test::Sizes::small);
  return 0;
}
