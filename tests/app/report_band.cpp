#include "tests/app/report_band.h"

#include <sstream>
#include <string_view>

namespace stepcast::app {
namespace {

constexpr std::string_view kColumn = "80% band";

/// Where the column of the band begins and ends in a table with this header; nothing where it has none. Columns are
/// aligned to the right: one ends where its title ends.
struct Column {
  std::size_t begin = 0, end = 0;
};

Column column_of(const std::string& header) {
  const std::size_t at = header.find(kColumn);
  if (at == std::string::npos) return {};
  const std::size_t before = header.find_last_not_of(' ', at - 1);
  return {before + 1, at + kColumn.size()};
}

std::string trimmed(const std::string& cell) {
  const std::size_t first = cell.find_first_not_of(' ');
  return first == std::string::npos ? std::string() : cell.substr(first);
}

}  // namespace

BandApart band_apart(const std::string& text) {
  BandApart apart;
  Column column;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("  band  ") || line.starts_with("  * out of range  ") ||
        line.starts_with("* no measured row is like it")) {
      apart.band += line + "\n";
      continue;
    }
    if (line.empty()) column = {};
    if (const Column begins = column_of(line); begins.end != 0) column = begins;
    if (column.end != 0 && line.size() >= column.end) {
      apart.band += trimmed(line.substr(column.begin, column.end - column.begin)) + "\n";
      line.erase(column.begin, column.end - column.begin);
    }
    apart.report += line + "\n";
  }
  return apart;
}

}  // namespace stepcast::app
