#include "calibrate/logs/nccl_tests.h"

#include <charconv>
#include <cmath>
#include <cstddef>

#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::calibrate {
namespace {

constexpr std::string_view kBlank = " \t\r";

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t begin = line.find_first_not_of(kBlank);
    if (begin == std::string_view::npos) return words;
    line.remove_prefix(begin);
    const std::size_t end = std::min(line.find_first_of(kBlank), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

/// Without what mpirun or srun put before it: "[1,0]<stdout>:", "[node][1,0]<stdout>:", "0: ".
std::string_view without_prefix(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(kBlank);
  if (begin == std::string_view::npos || line[begin] != '[') return line;
  const std::size_t tag = line.find(">:");
  if (tag != std::string_view::npos) return line.substr(tag + 2);
  const std::size_t end = line.find(']');
  return end == std::string_view::npos ? line : line.substr(end + 1);
}

std::optional<std::int64_t> whole(std::string_view word) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || value < 0) return {};
  return value;
}

/// Microseconds, "13.67". Up to a day: nothing that nccl-tests would print.
std::optional<Time> micros(std::string_view word) {
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return {};
  if (!std::isfinite(value) || value < 0 || value > 86'400e6) return {};
  return from_seconds(value * 1e-6);
}

/// Columns of a table, by their place in a row.
struct ColumnPlaces {
  std::size_t count = 0, time = 0, in_place = 0;  // in_place 0: none
};

std::optional<ColumnPlaces> header(const std::vector<std::string_view>& words) {
  if (words.size() < 3 || words[0] != "#" || words[1] != "size" || words[2] != "count") return {};
  ColumnPlaces columns;
  columns.count = words.size() - 1;
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i] != "time") continue;
    (columns.time == 0 ? columns.time : columns.in_place) = i - 1;
  }
  if (columns.time == 0) return {};
  return columns;
}

/// "all_reduce" of ".../all_reduce_perf -b 8"; "" without one.
std::string_view program(std::string_view line) {
  const std::size_t end = line.find("_perf");
  if (end == std::string_view::npos) return {};
  std::size_t begin = end;
  while (begin > 0 && ((line[begin - 1] >= 'a' && line[begin - 1] <= 'z') || line[begin - 1] == '_')) --begin;
  return line.substr(begin, end - begin);
}

std::string operation_named(std::string_view program) {
  return std::string(program == "alltoall" ? "all_to_all" : program == "sendrecv" ? "send_recv" : program);
}

}  // namespace

std::vector<NcclTestsTable> parse_nccl_tests(std::string_view log, const std::string& file) {
  std::vector<NcclTestsTable> tables;
  std::optional<ColumnPlaces> columns;
  std::string operation;
  std::uint32_t devices = 0, number = 0;
  bool listing = false;  // devices, since the last row
  while (!log.empty()) {
    ++number;
    const std::size_t end = std::min(log.find('\n'), log.size());
    const std::string_view line = without_prefix(log.substr(0, end));
    log.remove_prefix(std::min(end + 1, log.size()));
    if (const std::string_view name = program(line); !name.empty()) operation = operation_named(name);
    const std::vector<std::string_view> words = words_of(line);
    if (words.size() >= 3 && words[0] == "#" && words[1] == "Rank" && whole(words[2])) {
      devices = listing ? devices + 1 : 1;
      listing = true;
      continue;
    }
    if (const std::optional<ColumnPlaces> found = header(words)) {
      columns = found;
      tables.push_back({operation, devices, number, {}});
      listing = false;
      continue;
    }
    if (!columns || words.empty()) continue;
    const std::optional<std::int64_t> size = whole(words[0]);
    if (!size || words.size() < 3 || !whole(words[1])) continue;  // another program's line
    const std::string place = file + ":" + std::to_string(number);
    if (words.size() != columns->count) {
      throw InputError(place, "found a row of " + std::to_string(words.size()) + " columns, expected the header's " +
                                  std::to_string(columns->count));
    }
    const std::optional<Time> time = micros(words[columns->time]);
    if (!time) {
      throw InputError(place, "time: found " + in_quotes(words[columns->time]) + ", expected microseconds");
    }
    tables.back().rows.push_back(
        {{*size}, number, *time, columns->in_place == 0 ? std::nullopt : micros(words[columns->in_place])});
  }
  for (const NcclTestsTable& table : tables) {
    if (!table.rows.empty()) continue;
    throw InputError(file + ":" + std::to_string(table.line), "found a table without rows: the log breaks off here");
  }
  if (tables.empty()) {
    throw InputError(file,
                     "found no table of nccl-tests, expected a header '# size count type ... time algbw busbw' "
                     "and rows below it");
  }
  return tables;
}

}  // namespace stepcast::calibrate
