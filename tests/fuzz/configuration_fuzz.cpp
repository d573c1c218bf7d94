// Any bytes as what a training framework is started with; the first line names the framework. It becomes a scenario, or
// is refused with an InputError.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "language/frameworks/configuration.h"
#include "language/frameworks/frameworks.h"
#include "language/scenario.h"
#include "tests/fuzz/refused.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stepcast;
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const std::size_t end = std::min(all.find('\n'), all.size());
  const std::string name(all.substr(0, end));
  for (const language::Framework* framework : language::frameworks()) {
    if (framework->name != name) continue;
    const std::vector<std::string> settings{"cluster.node=dgx-h100", "cluster.gpus=64"};
    language::Library library(STEPCAST_SOURCE_DIR "/configs");
    std::string text;
    const bool refused = test::refused([&] {
      text = language::scenario_of_configuration(*framework, all.substr(std::min(end + 1, all.size())), "fuzz",
                                                 settings, library)
                 .text;
    });
    // What is written is a scenario, or refused as one: import reads it once more.
    if (!refused)
      test::refused(
          [&] { language::read_scenario(library.scenario("written", text, language::scenario_schema()), library); });
  }
  return 0;
}
