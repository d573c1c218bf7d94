// Any bytes as a table of measured curves; the only curve beside it is "points". Read, or refused with an InputError.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "language/core/library.h"
#include "language/tables/curves.h"
#include "tests/fuzz/devices.h"
#include "tests/fuzz/refused.h"
#include "tests/fuzz/scratch_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stepcast;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (test::names_devices(text)) return 0;
  static const test::ScratchFolder folder;
  static const std::string points = folder.write("points.csv", "size_bytes,time_us\n8,10\n1048576,50.5\n");
  static language::Library library(STEPCAST_SOURCE_DIR "/configs");
  const std::string table = folder.write("table.csv", text);
  test::refused([&] {
    language::is_curve_table(text, table);
    language::read_curves(table, library);
  });
  return 0;
}
