// Any bytes as each of the small tables that stepcast reads from a path: weights of uneven pairs, residuals, earlier
// predictions (CSV and JSON), points of a measured curve. Read, or refused with an
// InputError.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "calibrate/fit/curve.h"
#include "language/tables/pair_weights.h"
#include "language/tables/predictions.h"
#include "language/tables/residuals.h"
#include "tests/fuzz/refused.h"
#include "tests/fuzz/scratch_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stepcast;
  static const test::ScratchFolder folder;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string csv = folder.write("table.csv", text), json = folder.write("table.json", text);
  test::refused([&] {
    const auto weights = language::read_pair_weights(csv);
    for (const std::int64_t weight : weights)
      if (weight < 0) std::abort();
  });
  test::refused([&] { language::read_residuals(csv); });
  test::refused([&] { language::read_predictions(csv); });
  test::refused([&] { language::read_predictions(json); });
  test::refused([&] {
    const auto points = calibrate::read_curve_points(csv);
    for (std::size_t i = 0; i < points.size(); ++i)
      if (points[i].time < Time{} || (i > 0 && !(points[i - 1].size < points[i].size))) std::abort();
  });
  return 0;
}
