// Any bytes as a runs table, a scenario a row: read, or refused with an InputError.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "language/core/library.h"
#include "language/questions.h"
#include "tests/fuzz/devices.h"
#include "tests/fuzz/refused.h"
#include "tests/fuzz/scratch_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stepcast;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (test::names_devices(text)) return 0;
  static const test::ScratchFolder folder;
  static language::Library library(STEPCAST_SOURCE_DIR "/configs");
  const std::vector<std::string> paths{folder.write("runs.csv", text)};
  test::refused([&] {
    for (const language::Question& question : language::read_questions(paths, {}, library))
      if (question.internal_error) std::abort();
  });
  return 0;
}
