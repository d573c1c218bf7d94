// Any bytes as what a training framework is started with; the first line names the framework. It becomes a scenario, or
// is refused with an InputError.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "language/core/yaml.h"
#include "language/frameworks/configuration.h"
#include "language/frameworks/frameworks.h"
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
                                                 settings, library);
    });
    // What is written is YAML, whatever stood in names and values.
    if (!refused) language::parse_yaml(text, "written");
  }
  return 0;
}
