// Any bytes as --set, one KEY=VALUE a line, laid over a scenario: read, or refused with an InputError (or in the
// question's words, which read_questions makes of one).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "language/core/library.h"
#include "language/questions.h"
#include "tests/fuzz/devices.h"
#include "tests/fuzz/refused.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stepcast;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  if (test::names_devices(text)) return 0;
  std::vector<std::string> settings;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    settings.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  static language::Library library(STEPCAST_SOURCE_DIR "/configs");
  static const std::vector<std::string> paths{STEPCAST_SOURCE_DIR "/scenarios/quickstart.yaml"};
  test::refused([&] {
    for (const language::Question& question : language::read_questions(paths, settings, library))
      if (question.internal_error) std::abort();
  });
  return 0;
}
