#include "app/sweep/axis.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>
#include <unordered_set>
#include <utility>

#include "language/core/convert.h"
#include "language/core/file_text.h"
#include "language/core/given.h"
#include "language/scenario.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"
#include "sim/units_text.h"

namespace stepcast::app {
namespace {

using Kind = language::Type::Kind;

constexpr std::size_t kMostValues = 10'000;

bool is_quantity(Kind kind) {
  return kind == Kind::time || kind == Kind::bytes || kind == Kind::bandwidth || kind == Kind::flop_rate ||
         kind == Kind::power || kind == Kind::duration;
}
bool has_ranges(Kind kind) { return kind == Kind::whole || kind == Kind::number || is_quantity(kind); }

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t") - first + 1));
}

/// At the commas that stand in no brackets and no double quotes. A value that is quoted as a whole loses the quotes.
std::vector<std::string> items_of(std::string_view text) {
  std::vector<std::string> items(1);
  int depth = 0;
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') quoted = !quoted;
    if (!quoted && (c == '[' || c == '{')) ++depth;
    if (!quoted && (c == ']' || c == '}')) --depth;
    if (c == ',' && depth <= 0 && !quoted)
      items.emplace_back();
    else
      items.back() += c;
  }
  for (std::string& item : items) {
    item = trimmed(item);
    if (item.size() >= 2 && item.front() == '"' && item.back() == '"') item = item.substr(1, item.size() - 2);
  }
  return items;
}

/// Writes the values of one --axis.
class AxisReader {
 public:
  AxisReader(const std::string& word, std::string key, const language::KeyInfo& info)
      : place_{"--axis " + shortened(word, 120), 0, 0}, key_(std::move(key)), type_(info.type) {}

  std::vector<std::string> read(std::string_view text) {
    for (const std::string& item : items_of(text)) {
      if (item.empty())
        fail(place_, key_, "found no value between commas, expected one (--set " + key_ + "= takes a key away)");
      if (has_ranges(type_.kind) && item.find(':') != std::string::npos)
        add_range(item);
      else
        add(item);
    }
    return std::move(values_);
  }

 private:
  [[noreturn]] void wrong(const std::string& item, const std::string& expected) const {
    fail(place_, key_, "found " + in_quotes(item) + ", expected " + expected);
  }

  language::Value converted(const language::Type& type, const std::string& text) const {
    return convert(type, language::make_scalar(text, place_), key_);
  }

  void add(std::string value) {
    if (type_.kind == Kind::number)
      value = fmt::format("{}", converted(type_, value).number);  // 0.5 for 0.50, and as JSON writes it
    else if (type_.kind != Kind::block && type_.kind != Kind::list)
      converted(type_, value);
    if (!known_.insert(value).second) wrong(value, "each value once");
    if (values_.size() == kMostValues) fail(place_, key_, "found more than 10000 values, expected fewer");
    values_.push_back(std::move(value));
  }

  void add_range(const std::string& item) {
    std::vector<std::string> parts;
    for (std::size_t start = 0;;) {
      const std::size_t colon = item.find(':', start);
      parts.push_back(trimmed(std::string_view(item).substr(start, colon - start)));
      if (colon == std::string::npos) break;
      start = colon + 1;
    }
    if (parts.size() > 3 || parts[0].empty() || parts[1].empty() || parts.back().empty())
      wrong(item, "FROM:TO, FROM:TO:STEP or FROM:TO:*FACTOR");
    if (parts.size() == 2 && type_.kind != Kind::whole)
      wrong(item, "a step or a factor behind it, such as " + item + ":*2");
    std::string step = parts.size() == 3 ? parts[2] : "1";
    const bool multiplies = step.front() == '*' || step.front() == 'x';
    if (multiplies) step.erase(0, 1);
    if (type_.kind == Kind::whole)
      add_whole_range(item, parts, step, multiplies);
    else
      add_real_range(item, parts, step, multiplies);
  }

  /// FACTOR is a number above 1, STEP a value of the key's kind above 0.
  language::Value step_of(const std::string& step, bool multiplies) const {
    language::Type type = type_;
    if (multiplies && is_quantity(type.kind)) type.kind = Kind::number;
    type.least = multiplies ? 1 : 0;
    type.above_least = true;
    type.most = std::numeric_limits<double>::infinity();
    return converted(type, step);
  }

  void add_whole_range(const std::string& item, const std::vector<std::string>& parts, const std::string& step,
                       bool multiplies) {
    const std::int64_t from = converted(type_, parts[0]).whole, to = converted(type_, parts[1]).whole;
    const std::int64_t by = step_of(step, multiplies).whole;
    check_ends(item, static_cast<double>(from), static_cast<double>(to), multiplies);
    for (std::int64_t at = from;;) {
      add(std::to_string(at));
      if (multiplies ? at > to / by : at > to - by) return;
      at = multiplies ? at * by : at + by;
    }
  }

  /// In the unit of FROM, with twelve digits, so that 0.1:0.5:0.1 has a 0.3.
  void add_real_range(const std::string& item, const std::vector<std::string>& parts, const std::string& step,
                      bool multiplies) {
    constexpr double kRounding = 1e-9;
    double written = 0;
    const char* const end = parts[0].data() + parts[0].size();
    const char* const rest = std::from_chars(parts[0].data(), end, written).ptr;
    const std::string unit(rest, end);
    const double from = size(converted(type_, parts[0])), to = size(converted(type_, parts[1]));
    const double one = is_quantity(type_.kind) ? size(converted(open(), "1" + unit)) : 1;
    const language::Value by = step_of(step, multiplies);
    check_ends(item, from, to, multiplies);
    for (int i = 0;; ++i) {
      const double value = multiplies ? written * std::pow(by.number, i) : written + i * (size(by) / one);
      if (value > to / one * (1 + kRounding)) return;
      add(fmt::format("{:.12g}{}", value, unit));
    }
  }

  void check_ends(const std::string& item, double from, double to, bool multiplies) const {
    if (to < from) wrong(item, "the smaller end first");
    if (multiplies && from <= 0) wrong(item, "a step, or another first value: 0 times anything is 0");
  }

  /// The key's kind without its limits.
  language::Type open() const {
    language::Type type;
    type.kind = type_.kind;
    return type;
  }

  double size(const language::Value& value) const {
    switch (type_.kind) {
      case Kind::time:
        return static_cast<double>(value.time.value);
      case Kind::bytes:
        return static_cast<double>(value.bytes.value);
      case Kind::bandwidth:
        return value.bandwidth.value;
      case Kind::flop_rate:
        return value.flop_rate.value;
      case Kind::power:
        return value.power.value;
      case Kind::duration:
        return value.duration.value;
      default:
        return value.number;
    }
  }

  const language::Place place_;
  const std::string key_;
  const language::Type type_;
  std::vector<std::string> values_;
  std::unordered_set<std::string> known_;
};

}  // namespace

SweepAxis read_axis(const std::string& word) {
  const language::Place place{"--axis " + shortened(word, 120), 0, 0};
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == word.size())
    fail(place, "", "expected KEY=VALUES, such as parallelism.tensor=1,2,4,8 or parallelism.tensor=1:8:*2");
  language::checked_text(word, place.file);
  const std::string key = word.substr(0, equals);
  language::require_key(language::scenario_schema(), key, place);
  const language::KeyInfo* info = language::find_key(language::scenario_schema(), key);
  return {key, info, AxisReader(word, key, *info).read(std::string_view(word).substr(equals + 1))};
}

}  // namespace stepcast::app
