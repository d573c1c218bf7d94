#include "language/tables/residuals.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "language/core/file_text.h"
#include "language/core/type.h"
#include "language/tables/csv.h"
#include "sim/in_quotes.h"

namespace stepcast::language {
namespace {

std::vector<std::string_view> parts(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(';'), text.size());
    out.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

double number(std::string_view text, const Place& place) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    fail(place, "", "found " + in_quotes(text) + ", expected a number");
  return value;
}

calibrate::Residual read_row(const Record& row) {
  constexpr std::size_t kColumns = 8;
  if (row.size() != kColumns)
    fail(row.front().place, "", "found " + std::to_string(row.size()) + " cells, expected 8 as --residuals writes");
  calibrate::Residual out{row[0].text, row[1].text, {row[2].text, row[3].text, row[4].text, {}, {}}, 0};
  for (const std::string_view kind : parts(row[5].text)) out.traits.kinds.emplace_back(kind);
  for (const std::string_view size : parts(row[6].text)) {
    const std::size_t equals = size.find('=');
    if (equals == std::string_view::npos) fail(row[6].place, "", "found " + in_quotes(size) + ", expected name=number");
    out.traits.sizes[std::string(size.substr(0, equals))] = number(size.substr(equals + 1), row[6].place);
  }
  out.error = number(row[7].text, row[7].place);
  return out;
}

}  // namespace

std::vector<calibrate::Residual> read_residuals(const std::filesystem::path& file) {
  std::vector<calibrate::Residual> out;
  if (!std::filesystem::exists(file)) return out;
  const std::string shown = shown_path(file);
  const std::vector<Record> records = parse_csv(read_file(file, shown), shown);
  for (std::size_t i = 1; i < records.size(); ++i) out.push_back(read_row(records[i]));
  return out;
}

}  // namespace stepcast::language
