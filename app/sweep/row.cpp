#include "app/sweep/row.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/report/csv_columns.h"
#include "app/report/figure.h"
#include "app/report/json_text.h"
#include "app/report/text_table.h"
#include "language/core/visible_text.h"
#include "language/tables/csv.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

using Json = nlohmann::ordered_json;
using Kind = language::Type::Kind;

constexpr std::string_view kEnd = "end of ";
constexpr const char *kPoint = "point", *kSweep = "sweep";

SweepColumns::Kind kind_of(const language::Type& type) {
  if (type.kind == Kind::whole || type.kind == Kind::number) return SweepColumns::Kind::number;
  return type.kind == Kind::flag ? SweepColumns::Kind::flag : SweepColumns::Kind::text;
}

/// On one line.
std::string one_line(std::string text) {
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at)) text.replace(at, 1, "; ");
  return language::visible(text);
}

std::string json_string(const std::string& text) {
  std::string quoted = json_text(text, -1);
  quoted.pop_back();  // the line end
  return quoted;
}

std::string text_of(const Json& value) {
  if (value.is_null()) return {};
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::optional<std::size_t> point_of(std::string_view text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number == 0) return std::nullopt;
  return number - 1;
}

std::optional<Shard> shard_of(const std::string& text) {
  try {
    return read_shard(text);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

std::optional<RowMark> csv_mark(std::string_view line) {
  std::vector<language::Record> records = language::parse_csv(line, "");
  if (records.size() != 1 || records.front().size() < 2) return std::nullopt;
  RowMark mark{records.front().back().text, {}, {}};
  const std::string& point = records.front().front().text;
  if (point.starts_with(kEnd))
    mark.end = shard_of(point.substr(kEnd.size()));
  else
    mark.point = point_of(point);
  return mark;
}

std::optional<RowMark> json_mark(std::string_view line) {
  const auto object = Json::parse(line);
  RowMark mark{object.at(kSweep).get<std::string>(), {}, {}};
  const Json& point = object.at(kPoint);
  if (point.is_null())
    mark.end = shard_of(object.at("end").get<std::string>());
  else
    mark.point = point_of(point.dump());
  return mark;
}

}  // namespace

SweepColumns::SweepColumns(const SweepGrid& grid) : quantities_(csv_columns()), axes_(grid.axes().size()) {
  for (const SweepAxis& axis : grid.axes()) columns_.push_back({axis.key, kind_of(axis.info->type)});
  for (const schedules::ReportedQuantity* quantity : quantities_)
    columns_.push_back({std::string(quantity->key), Kind::number});
  columns_.push_back({"fits", Kind::flag});
  columns_.push_back({"error", Kind::text});
}

std::optional<std::size_t> SweepColumns::of(std::string_view quantity) const {
  const auto found = std::find_if(columns_.begin() + static_cast<std::ptrdiff_t>(axes_), columns_.end() - 2,
                                  [&](const RowColumn& column) { return column.title == quantity; });
  if (found == columns_.end() - 2) return std::nullopt;
  return static_cast<std::size_t>(found - columns_.begin());
}

SweepRow SweepColumns::row(const SweepGrid& grid, std::size_t point, const Answer& answer) const {
  SweepRow row{point, {}};
  row.cells.reserve(columns_.size());
  const std::vector<std::size_t> values = grid.values(point);
  for (std::size_t i = 0; i < axes_; ++i) row.cells.push_back(grid.axes()[i].values[values[i]]);
  for (const schedules::ReportedQuantity* quantity : quantities_)
    row.cells.push_back(plain_text(figure(*quantity, answer)));
  if (!answer.forecast) {
    row.cells.insert(row.cells.end(), {"", one_line(answer.question.error)});
  } else {
    const auto& over = answer.forecast->out_of_memory;
    row.cells.insert(row.cells.end(), {over ? "false" : "true", over ? one_line(memory_message(*over)) : ""});
  }
  return row;
}

std::optional<RowMark> read_mark(Format format, std::string_view line) {
  try {
    std::optional<RowMark> mark = format == Format::jsonl ? json_mark(line) : csv_mark(line);
    if (mark && (mark->point || mark->end)) return mark;
  } catch (const InputError&) {
  } catch (const nlohmann::json::exception&) {
  }
  return std::nullopt;
}

RowFormat::RowFormat(Format format, const SweepColumns& columns, std::string mark)
    : format_(format), columns_(columns), mark_(std::move(mark)) {
  for (const SweepColumns::RowColumn& column : columns.all()) json_keys_.push_back(json_string(column.title) + ":");
}

std::string RowFormat::header() const {
  if (format_ == Format::jsonl) return {};
  std::vector<std::string> titles{kPoint};
  for (const SweepColumns::RowColumn& column : columns_.all()) titles.push_back(column.title);
  titles.emplace_back(kSweep);
  return csv_line(titles);
}

std::string RowFormat::csv(const std::string& point, const std::vector<std::string>& cells) const {
  std::vector<std::string> all{point};
  all.insert(all.end(), cells.begin(), cells.end());
  all.push_back(mark_);
  return csv_line(all);
}

std::string RowFormat::json(const SweepRow& row) const {
  std::string line = "{\"point\":" + std::to_string(row.point + 1) + ",\"settings\":{";
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    if (i == columns_.axes()) line += "},";
    if (i > 0 && i != columns_.axes()) line += ',';
    const std::string& cell = row.cells[i];
    const bool is_text = columns_.all()[i].kind == SweepColumns::Kind::text;
    line += json_keys_[i] + (cell.empty() ? "null" : is_text ? json_string(cell) : cell);
  }
  return line + ",\"sweep\":\"" + mark_ + "\"}\n";
}

std::string RowFormat::line(const SweepRow& row) const {
  return format_ == Format::jsonl ? json(row) : csv(std::to_string(row.point + 1), row.cells);
}

std::string RowFormat::end(const Shard& shard) const {
  if (format_ == Format::jsonl) return "{\"point\":null,\"end\":\"" + text(shard) + "\",\"sweep\":\"" + mark_ + "\"}\n";
  return csv(std::string(kEnd) + text(shard), std::vector<std::string>(columns_.all().size()));
}

std::string RowFormat::first_bytes() const { return format_ == Format::jsonl ? "{\"point\":" : header(); }

std::optional<SweepRow> RowFormat::read(std::string_view line) const {
  const std::optional<RowMark> mark = read_mark(format_, line);
  if (!mark || !mark->point) return std::nullopt;
  try {
    std::optional<std::vector<std::string>> cells = format_ == Format::jsonl ? json_cells(line) : csv_cells(line);
    if (cells) return SweepRow{*mark->point, *std::move(cells)};
  } catch (const nlohmann::json::exception&) {
  }
  return std::nullopt;
}

std::optional<std::vector<std::string>> RowFormat::csv_cells(std::string_view line) const {
  std::vector<language::Record> records = language::parse_csv(line, "");
  if (records.front().size() != columns_.all().size() + 2) return std::nullopt;
  std::vector<std::string> cells;
  for (std::size_t i = 1; i + 1 < records.front().size(); ++i) cells.push_back(std::move(records.front()[i].text));
  return cells;
}

std::vector<std::string> RowFormat::json_cells(std::string_view line) const {
  const auto object = Json::parse(line);
  std::vector<std::string> cells;
  for (std::size_t i = 0; i < columns_.all().size(); ++i) {
    const Json& from = i < columns_.axes() ? object.at("settings") : object;
    cells.push_back(text_of(from.at(columns_.all()[i].title)));
  }
  return cells;
}

}  // namespace stepcast::app
