// Any bytes as what a sweep reads, a line each: "a KEY=VALUES" an axis, "z KEY,KEY" a zip, "w ..." a condition, which
// is evaluated at some points, "r ..." a row of a file. Each is read, or refused with an InputError.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "app/sweep/names.h"
#include "app/sweep/row.h"
#include "language/variants.h"
#include "tests/fuzz/devices.h"
#include "tests/fuzz/refused.h"

namespace {

using namespace stepcast;

constexpr std::size_t kMostLines = 200;

struct SweepLines {
  std::vector<std::string> axes, zips, conditions, rows;
};

SweepLines lines_of(std::string_view text) {
  SweepLines lines;
  for (std::size_t count = 0; !text.empty() && count < kMostLines; ++count) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.size() < 2) continue;
    std::vector<std::string>* const of = line[0] == 'a'   ? &lines.axes
                                         : line[0] == 'z' ? &lines.zips
                                         : line[0] == 'w' ? &lines.conditions
                                                          : &lines.rows;
    of->emplace_back(line.substr(2));
  }
  return lines;
}

/// The first points, the last one and one between.
void evaluate(const app::SweepGrid& grid, const app::SweepNames& names, const app::Condition& condition) {
  for (const std::size_t point : {std::size_t{0}, std::size_t{1}, grid.points() / 2, grid.points() - 1}) {
    const std::vector<std::size_t> values = grid.values(std::min(point, grid.points() - 1));
    names.holds(condition, {values, nullptr, nullptr});
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (test::names_devices(text)) return 0;
  static const language::Variants base(STEPCAST_SOURCE_DIR "/scenarios/quickstart.yaml", {}, {},
                                       language::Library(STEPCAST_SOURCE_DIR "/configs"));
  const SweepLines lines = lines_of(text);
  std::vector<app::SweepAxis> axes;
  for (const std::string& axis : lines.axes) test::refused([&] { axes.push_back(app::read_axis(axis)); });
  test::refused([&] {
    const app::SweepGrid grid(std::move(axes), lines.zips);
    app::SweepNames names(grid, base.tree());
    const app::Vocabulary vocabulary = names.vocabulary();
    for (const std::string& condition : lines.conditions)
      test::refused([&] { evaluate(grid, names, app::Condition(condition, vocabulary)); });
    const app::SweepColumns columns(grid);
    for (const app::Format format : {app::Format::csv, app::Format::jsonl})
      for (const std::string& row : lines.rows) app::RowFormat(format, columns, "0123456789abcdef").read(row);
  });
  return 0;
}
