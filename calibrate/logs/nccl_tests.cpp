#include "calibrate/logs/nccl_tests.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <tuple>
#include <utility>

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
  if (begin == std::string_view::npos) return line;
  const std::size_t behind_number = line.find_first_not_of("0123456789", begin);
  if (behind_number != std::string_view::npos && behind_number > begin && line[behind_number] == ':')
    return line.substr(behind_number + 1);
  if (line[begin] != '[') return line;
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
  std::size_t count = 0, time = 0, in_place = 0, redop = 0, root = 0, algbw = 0, busbw = 0;  // 0: none, but of time
};

std::optional<ColumnPlaces> header(const std::vector<std::string_view>& words) {
  if (words.size() < 3 || words[0] != "#" || words[1] != "size" || words[2] != "count") return {};
  ColumnPlaces columns;
  columns.count = words.size() - 1;
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "redop") columns.redop = i - 1;
    if (words[i] == "root") columns.root = i - 1;
    if (words[i] == "algbw" && columns.algbw == 0) columns.algbw = i - 1;
    if (words[i] == "busbw" && columns.busbw == 0) columns.busbw = i - 1;
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

std::uint32_t small(std::string_view word) {
  constexpr std::int64_t kMost = 1'000'000;
  return static_cast<std::uint32_t>(std::min(whole(word).value_or(0), kMost));
}

/// -g times -t of nccl-tests: "# nThread 1 nGpus 8 minBytes ...", or of its command line. 0 where it says neither.
std::uint32_t gpus_per_process(const std::vector<std::string_view>& words, bool command_line) {
  std::uint32_t threads = 1, gpus = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i], next = i + 1 < words.size() ? words[i + 1] : std::string_view();
    if (!command_line) {
      if (word == "nThread") threads = small(next);
      if (word == "nGpus") gpus = small(next);
      continue;
    }
    for (const auto& [short_name, long_name, value] :
         {std::tuple("-g", "--ngpus", &gpus), std::tuple("-t", "--nthreads", &threads)}) {
      const std::string_view flag = short_name, option = long_name;
      if (word == flag || word == option) *value = small(next);
      if (word.size() > flag.size() && word.starts_with(flag)) *value = small(word.substr(flag.size()));
      if (word.size() > option.size() && word.starts_with(option) && word[option.size()] == '=')
        *value = small(word.substr(option.size() + 1));
    }
  }
  if (command_line && gpus == 0 && threads > 1) gpus = 1;
  return gpus * threads;
}

/// A release that a line names, and of which library.
struct NamedRelease {
  std::string version;  ///< "": it names none
  bool is_rccl = false;
};

/// "2.21.5" of "NCCL version 2.21.5+cuda12.4", "2.22.3" of "RCCL version : 2.22.3-develop:7fe3c0d", and that of
/// "nccl-library=22105" of nccl-tests, which takes the library's word (two digits a part since 2.9, one in the middle
/// before).
NamedRelease release(std::string_view line) {
  constexpr std::string_view said = "CCL version", library = "nccl-library=";
  if (const std::size_t at = line.find(said);
      at != std::string_view::npos && at > 0 && (line[at - 1] == 'N' || line[at - 1] == 'R')) {
    std::string_view rest = line.substr(at + said.size());
    rest.remove_prefix(std::min(rest.find_first_not_of(" :"), rest.size()));
    const std::string_view text = rest.substr(0, std::min(rest.find_first_not_of("0123456789."), rest.size()));
    return {text.find('.') == std::string_view::npos ? std::string() : std::string(text), line[at - 1] == 'R'};
  }
  const std::size_t at = line.find(library);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = line.substr(at + library.size());
  const std::int64_t code =
      whole(rest.substr(0, std::min(rest.find_first_not_of("0123456789"), rest.size()))).value_or(0);
  const std::int64_t major = code >= 10'000 ? 10'000 : 1'000;
  if (code < 1'000) return {};
  return {std::to_string(code / major) + '.' + std::to_string(code % major / 100) + '.' + std::to_string(code % 100)};
}

double gigabytes_per_second(std::string_view word) {
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc() && end == word.data() + word.size() && std::isfinite(value) ? value : 0;
}

/// What tells one operation from another in a row, besides its times.
void take_traits(const std::vector<std::string_view>& words, const ColumnPlaces& columns, double& fastest,
                 NcclTestsTable& table) {
  constexpr double kTold = 10;  // GB/s: rounding to two digits behind the point moves the ratio by 0.1 % at most
  if (columns.redop != 0) table.reduces = table.reduces.value_or(false) || words[columns.redop] != "none";
  if (columns.root != 0) table.has_root = table.has_root.value_or(false) || words[columns.root] != "-1";
  if (columns.algbw == 0 || columns.busbw == 0) return;
  const double algbw = gigabytes_per_second(words[columns.algbw]), busbw = gigabytes_per_second(words[columns.busbw]);
  if (algbw < kTold || busbw <= 0 || algbw <= fastest) return;
  fastest = algbw;
  table.bus_over_alg = busbw / algbw;
}

}  // namespace

std::vector<NcclTestsTable> parse_nccl_tests(std::string_view log, const std::string& file) {
  std::vector<NcclTestsTable> tables;
  std::optional<ColumnPlaces> columns;
  std::string operation;
  NamedRelease version;
  double fastest = 0;  // row of the table at hand, GB/s
  std::uint32_t devices = 0, number = 0, per_process = 0;
  bool listing = false;  // devices, since the last row
  while (!log.empty()) {
    ++number;
    const std::size_t end = std::min(log.find('\n'), log.size());
    const bool ends = end < log.size();  // not the last one, broken off
    const std::string_view line = without_prefix(log.substr(0, end));
    log.remove_prefix(std::min(end + 1, log.size()));
    const std::string_view name = program(line);
    if (!name.empty()) operation = operation_named(name);
    const std::vector<std::string_view> words = words_of(line);
    if (NamedRelease found = release(line); !found.version.empty()) version = std::move(found);
    if (const std::uint32_t found = gpus_per_process(words, !name.empty()); found != 0) per_process = found;
    if (words.size() >= 3 && words[0] == "#" && words[1] == "Rank" && whole(words[2])) {
      devices = listing ? devices + 1 : 1;
      listing = true;
      continue;
    }
    if (const std::optional<ColumnPlaces> found = header(words)) {
      columns = found;
      tables.push_back({operation, devices, number, {}, per_process, version.version, version.is_rccl});
      fastest = 0;
      listing = false;
      continue;
    }
    if (!columns || words.empty()) continue;
    const std::optional<std::int64_t> size = whole(words[0]);
    const bool broken_off = size && (words.size() == 2 ? whole(words[1]).has_value() : words.size() == 1 && !ends);
    if (!size || (!broken_off && (words.size() < 3 || !whole(words[1])))) continue;  // another program's line
    const std::string place = file + ":" + std::to_string(number);
    if (words.size() != columns->count) {
      throw InputError(place, "found a row of " + std::to_string(words.size()) + " columns, expected the header's " +
                                  std::to_string(columns->count));
    }
    const std::optional<Time> time = micros(words[columns->time]);
    if (!time) {
      throw InputError(place, "time: found " + in_quotes(words[columns->time]) + ", expected microseconds");
    }
    NcclTestsTable& table = tables.back();
    if (table.nccl_version.empty()) {  // NCCL's own line may come behind the header
      table.nccl_version = version.version;
      table.is_rccl = version.is_rccl;
    }
    take_traits(words, *columns, fastest, table);
    table.rows.push_back(
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
