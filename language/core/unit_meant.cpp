#include "language/core/unit_meant.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>
#include <vector>

#include "sim/units_text.h"

namespace stepcast::language {
namespace {

using Kind = Type::Kind;
using Readings = std::vector<std::string>;

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

/// Takes one of the endings off, the first that fits; whether one did.
bool take_end(std::string& word, std::initializer_list<std::string_view> ends) {
  const std::string small = lower(word);
  for (const std::string_view end : ends) {
    if (!small.ends_with(end)) continue;
    word.erase(word.size() - end.size());
    return true;
  }
  return false;
}

/// "k", "Mi" or nothing of "K", "mega", "MI"; no value: no prefix of a unit. `binary`: with Ki and its like.
std::optional<std::string> prefix(const std::string& word, bool binary) {
  static constexpr std::pair<std::string_view, std::string_view> words[] = {
      {"", ""},      {"k", "k"},    {"m", "M"},    {"g", "G"},     {"t", "T"},     {"p", "P"},     {"e", "E"},
      {"kilo", "k"}, {"mega", "M"}, {"giga", "G"}, {"tera", "T"},  {"peta", "P"},  {"exa", "E"},   {"ki", "Ki"},
      {"mi", "Mi"},  {"gi", "Gi"},  {"ti", "Ti"},  {"kibi", "Ki"}, {"mebi", "Mi"}, {"gibi", "Gi"}, {"tebi", "Ti"}};
  const std::string small = lower(word);
  for (const auto& [theirs, ours] : words)
    if (small == theirs && (binary || !ours.ends_with('i'))) return std::string(ours);
  return std::nullopt;
}

/// Units of time as people write them.
Readings times(const std::string& unit) {
  static constexpr std::pair<std::string_view, std::string_view> words[] = {
      {"us", "us"},         {"usec", "us"},        {"usecs", "us"},      {"microsecond", "us"}, {"microseconds", "us"},
      {"ms", "ms"},         {"msec", "ms"},        {"msecs", "ms"},      {"millisecond", "ms"}, {"milliseconds", "ms"},
      {"ns", "ns"},         {"nsec", "ns"},        {"nanosecond", "ns"}, {"nanoseconds", "ns"}, {"ps", "ps"},
      {"picosecond", "ps"}, {"picoseconds", "ps"}, {"s", "s"},           {"sec", "s"},          {"secs", "s"},
      {"second", "s"},      {"seconds", "s"},      {"m", "min"},         {"min", "min"},        {"mins", "min"},
      {"minute", "min"},    {"minutes", "min"},    {"h", "h"},           {"hr", "h"},           {"hrs", "h"},
      {"hour", "h"},        {"hours", "h"}};
  std::string word = lower(unit);
  for (const std::string_view micro : {"µ", "μ"})  // the sign and the Greek letter
    if (word.starts_with(micro)) word = "u" + word.substr(micro.size());
  for (const auto& [theirs, ours] : words)
    if (word == theirs) return {std::string(ours)};
  return {};
}

/// Bytes: "KB" is 1000 to some and 1024 to others.
Readings sizes(std::string unit) {
  take_end(unit, {"bytes", "byte", "b"});
  const std::optional<std::string> big = prefix(unit, true);
  if (!big) return {};
  if (big->empty() || big->ends_with('i')) return {*big + "B"};
  const bool told = *big == unit && *big == "k";  // a small k is nobody's 1024
  const std::string binary = *big == "k" ? "KiB" : *big + "iB";
  return told ? Readings{*big + "B"} : Readings{*big + "B", binary};
}

/// Rates: "bps" and "b/s" are bits, "Bps" bytes; a bare "G" may be either.
Readings bandwidths(std::string unit) {
  const bool per_second = take_end(unit, {"/sec", "/second", "/s", "ps"});
  if (take_end(unit, {"bits", "bit"})) {
    const std::optional<std::string> big = prefix(unit, false);
    return big ? Readings{*big + "bit/s"} : Readings{};
  }
  const bool bytes = take_end(unit, {"bytes", "byte"});
  const char letter = bytes || unit.empty() ? 'B' : unit.back();
  const bool said = bytes || letter == 'b' || letter == 'B';
  if (!bytes && said && !unit.empty()) unit.pop_back();
  const std::optional<std::string> big = prefix(unit, true);
  if (!big) return {};
  if (said && letter == 'B') return {*big + "B/s"};
  if (big->ends_with('i')) return {*big + "B/s"};
  if (said && per_second && (*big == unit || *big == "k")) return {*big + "bit/s"};
  return {*big + "bit/s", *big + "B/s"};
}

Readings flop_rates(std::string unit) {
  take_end(unit, {"/sec", "/second", "/s"});
  take_end(unit, {"flops", "flop", "ops", "op", "f"});
  const std::optional<std::string> big = prefix(unit, false);
  return big ? Readings{*big + "FLOP/s"} : Readings{};
}

Readings powers(std::string unit) {
  take_end(unit, {"watts", "watt", "w"});
  const std::optional<std::string> big = prefix(unit, false);
  return big && (big->empty() || *big == "k" || *big == "M") ? Readings{*big + "W"} : Readings{};
}

/// Units of time, days besides and no fractions of a second.
Readings durations(const std::string& unit) {
  const std::string word = lower(unit);
  if (word == "d" || word == "day" || word == "days") return {"days"};
  Readings found = times(unit);
  std::erase_if(found, [](const std::string& each) { return each.size() > 1 && each.ends_with('s'); });
  return found;
}

Readings readings(Kind kind, const std::string& unit) {
  switch (kind) {
    case Kind::time:
      return times(unit);
    case Kind::bytes:
      return sizes(unit);
    case Kind::bandwidth:
      return bandwidths(unit);
    case Kind::flop_rate:
      return flop_rates(unit);
    case Kind::power:
      return powers(unit);
    case Kind::duration:
      return durations(unit);
    default:
      return {};
  }
}

bool taken(Kind kind, const std::string& text) {
  switch (kind) {
    case Kind::time:
      return parse_time(text).has_value();
    case Kind::bytes:
      return parse_bytes(text).has_value();
    case Kind::bandwidth:
      return parse_bandwidth(text).has_value();
    case Kind::flop_rate:
      return parse_flop_rate(text).has_value();
    case Kind::power:
      return parse_power(text).has_value();
    case Kind::duration:
      return parse_duration(text).has_value();
    default:
      return false;
  }
}

}  // namespace

std::string unit_meant(Kind kind, std::string_view text) {
  constexpr std::size_t kLongest = 40;
  if (text.size() > kLongest || taken(kind, std::string(text))) return {};
  std::string number, unit;
  for (const char c : text) {
    const bool digit = (c >= '0' && c <= '9') || c == '.';
    if (unit.empty() && digit) {
      number += c;
    } else if (c != ' ' && c != '\t') {
      unit += c;
    }
  }
  if (number.empty() || unit.empty()) return {};
  std::string out;
  for (const std::string& reading : readings(kind, unit)) {
    const std::string whole = number + ' ' + reading;
    if (!taken(kind, whole)) continue;
    out += (out.empty() ? "; did you mean '" : " or '") + whole + "'";
  }
  return out.empty() ? out : out + '?';
}

}  // namespace stepcast::language
