// Any bytes as the choices of a random scenario (scenarios/random_scenario.h), which is then forecast: the fuzzer walks
// among scenarios that look right. A whole forecast, or refused with an InputError.

#include <cstddef>
#include <cstdint>

#include "tests/fuzz/scenarios/choices.h"
#include "tests/fuzz/scenarios/outcome.h"
#include "tests/fuzz/scenarios/random_scenario.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stepcast;
  static language::Library library(STEPCAST_SOURCE_DIR "/configs");
  static const test::ConfigNames names = test::config_names(library);
  test::Choices choices({data, size});
  test::outcome_of(test::random_scenario(choices, names), library, test::Sizes::small);
  return 0;
}
