#include "language/tables/runs_table.h"

#include <algorithm>

#include "language/core/given.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::language {
namespace {

constexpr std::size_t kMostRows = 100'000;  // each is a scenario of some 8 kB, held until all are forecast

void check_header(const Record& header, const Schema& schema) {
  if (const std::size_t between = header.front().text.find_first_of(";\t"); between != std::string::npos)
    fail(header.front().place, "",
         "found " + std::string(header.front().text[between] == ';' ? "';'" : "a tab") +
             " between key paths, expected commas");
  for (auto cell = header.begin(); cell != header.end(); ++cell) {
    if (cell->text.empty()) fail(cell->place, "", "found an empty column name, expected the path of a key");
    require_key(schema, cell->text, cell->place);
    if (std::ranges::find(header.begin(), cell, cell->text, &Cell::text) != cell)
      fail(cell->place, "", "found the column " + in_quotes(cell->text) + " a second time, expected it once");
  }
}

}  // namespace

RunsTable::RunsTable(std::string_view content, const std::string& shown, const Schema& schema)
    : schema_(schema), records_(parse_csv(content, shown)) {
  if (records_.empty()) throw InputError(shown, "found no header, expected a line of key paths");
  check_header(records_.front(), schema);
  if (records_.size() == 1) throw InputError(shown, "found a header and no row, expected at least one row");
  if (records_.size() > kMostRows + 1)
    throw InputError(text(records_[kMostRows + 1].front().place),
                     "found more than 100000 rows, expected fewer in one table");
}

Place RunsTable::place(std::size_t row) const {
  Place start = records_[row + 1].front().place;
  start.column = 1;
  return start;
}

Node RunsTable::layer(std::size_t row) const {
  const Record &header = records_.front(), &cells = records_[row + 1];
  if (cells.size() != header.size()) {
    fail(cells.size() > header.size() ? cells[header.size()].place : cells.back().place, "",
         "found " + std::to_string(cells.size()) + " cells, expected " + std::to_string(header.size()) +
             " as in the header");
  }
  std::vector<Given> given;
  for (std::size_t i = 0; i < cells.size(); ++i)
    if (!cells[i].text.empty()) given.push_back({header[i].text, cells[i].text, cells[i].place});
  return layer_of(schema_, std::move(given), place(row));
}

bool is_runs_table(std::string_view content, const std::string& shown, const Schema& schema) {
  const std::vector<Record> records = parse_csv(content, shown);
  if (records.empty()) return false;
  return std::ranges::any_of(records.front(), [&](const Cell& cell) {
    return cell.text.find('.') != std::string::npos && find_key(schema, cell.text) != nullptr;
  });
}

bool looks_like_runs_table(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const std::size_t first = line.find_first_not_of(" \t\r\xef\xbb\xbf");
    if (first != std::string_view::npos && line[first] != '#')
      return line.find(':') == std::string_view::npos &&
             std::string_view("{[-%").find(line[first]) == std::string::npos;
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return false;
}

}  // namespace stepcast::language
