#include "calibrate/bundle/row_reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::calibrate {
namespace {

constexpr double kLongestSeconds = 86'400;

template <class Number>
std::optional<Number> parse(const std::string& cell) {
  Number value{};
  const char* const end = cell.data() + cell.size();
  const auto [stop, error] = std::from_chars(cell.data(), end, value);
  if (error != std::errc{} || stop != end) return {};
  return value;
}

bool none(const std::string& cell) { return cell.empty() || cell == "-"; }

}  // namespace

void RowReader::fail(const std::string& expected) const {
  throw InputError(row_.place, std::string(columns_[next_ - 1]) + ": found " + in_quotes(row_.cells[next_ - 1]) +
                                   ", expected " + expected);
}

std::string RowReader::text() {
  const std::string& cell = take();
  if (cell.empty()) fail("some text");
  return cell;
}

std::string RowReader::word() {
  const std::string& cell = take();
  const auto fits = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-' ||
           c == '.';
  };
  if (cell.size() > 64 || !std::ranges::all_of(cell, fits)) fail("a word of letters, digits, '_', '-' and '.'");
  return cell.empty() ? "-" : cell;
}

std::string RowReader::choice(std::initializer_list<std::string_view> words) {
  const std::string& cell = take();
  if (std::ranges::find(words, cell) != words.end()) return cell;
  std::string all;
  for (const std::string_view each : words) all += (all.empty() ? "" : ", ") + std::string(each);
  fail("one of " + all);
}

std::int64_t RowReader::whole(std::int64_t least, std::int64_t most) {
  const std::optional<std::int64_t> value = parse<std::int64_t>(take());
  if (!value || *value < least || *value > most)
    fail("a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  return *value;
}

std::int64_t RowReader::whole_or_none(std::int64_t most) {
  if (!none(row_.cells[next_])) return whole(0, most);
  take();
  return 0;
}

std::optional<double> RowReader::number() {
  const std::string& cell = take();
  if (none(cell)) return {};
  const std::optional<double> value = parse<double>(cell);
  if (!value || !std::isfinite(*value)) fail("a number, or - for none");
  return value;
}

Time RowReader::time() {
  const std::optional<double> seconds = parse<double>(take());
  if (!seconds || !(*seconds > 0) || *seconds > kLongestSeconds) fail("seconds above 0, up to a day");
  const Time time = from_seconds(*seconds);
  if (time <= Time{}) fail("at least a picosecond");
  return time;
}

bool RowReader::flag() { return choice({"0", "1"}) == "1"; }

}  // namespace stepcast::calibrate
