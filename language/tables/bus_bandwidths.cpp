#include "language/tables/bus_bandwidths.h"

#include <algorithm>
#include <charconv>

#include "language/core/operation_named.h"
#include "language/core/type.h"
#include "language/tables/csv.h"
#include "sim/in_quotes.h"

namespace stepcast::language {
namespace {

template <class T>
T number(const Cell& cell, const char* expected) {
  T value{};
  const char* const end = cell.text.data() + cell.text.size();
  const auto [stop, error] = std::from_chars(cell.text.data(), end, value);
  if (error != std::errc() || stop != end || !(value > T{}))
    fail(cell.place, "", "found " + in_quotes(cell.text) + ", expected " + expected);
  return value;
}

std::size_t column(const Record& header, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    const auto at = std::ranges::find(header, name, &Cell::text);
    if (at != header.end()) return static_cast<std::size_t>(at - header.begin());
  }
  fail(header.front().place, "", "found no column " + std::string(*names.begin()));
}

}  // namespace

std::vector<calibrate::BusBandwidth> parse_bus_bandwidths(std::string_view text, const std::string& shown) {
  const std::vector<Record> records = parse_csv(text, shown);
  if (records.empty()) fail({shown, 1, 1}, "", "found no table, expected columns op, nodes, gpus and busbw_GBps_mean");
  const Record& header = records.front();
  const std::size_t op = column(header, {"op"}), nodes = column(header, {"nodes"}), gpus = column(header, {"gpus"}),
                    busbw = column(header, {"busbw_GBps_mean", "busbw_GBps"});
  std::vector<calibrate::BusBandwidth> rows;
  for (std::size_t i = 1; i < records.size(); ++i) {
    const Record& record = records[i];
    if (record.size() != header.size())
      fail(record.front().place, "",
           "found " + std::to_string(record.size()) + " cells, expected " + std::to_string(header.size()) +
               " as in the header");
    const Place& place = record[op].place;
    rows.push_back({operation_named(record[op].text,
                                    place.file + ":" + std::to_string(place.line) + ":" + std::to_string(place.column)),
                    number<std::uint32_t>(record[nodes], "a whole number of nodes"),
                    number<std::uint32_t>(record[gpus], "a whole number of GPUs"),
                    number<double>(record[busbw], "GB/s above 0") * 1e9});
  }
  return rows;
}

}  // namespace stepcast::language
