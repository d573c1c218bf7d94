#include "language/core/convert.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "language/core/nearest.h"
#include "language/core/schema.h"
#include "language/core/unit_meant.h"
#include "sim/units_text.h"

namespace stepcast::language {
namespace {

using Kind = Type::Kind;

/// Decimal digits with an optional minus; 010 is refused because YAML 1.1 readers take it for 8.
std::optional<std::int64_t> parse_whole(std::string_view text) {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  if (digits.empty() || (digits.size() > 1 && digits[0] == '0')) return std::nullopt;
  if (!std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; })) return std::nullopt;
  std::int64_t value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc{}) return std::nullopt;
  return value;
}

std::optional<double> parse_number(std::string_view text) {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  if (digits.empty() || digits[0] < '0' || digits[0] > '9') return std::nullopt;  // no .5, inf, nan
  if (digits.size() > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9') return std::nullopt;
  double value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc{} || result.ptr != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

/// 1, 4096 or 0.5: without needless digits.
std::string plain(double value) {
  if (value == std::floor(value) && std::abs(value) < 1e15) return std::to_string(static_cast<std::int64_t>(value));
  char buffer[40];
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::general);
  return {buffer, result.ptr};
}

/// With all its digits; beyond what 64 bits hold, the last that they do.
std::string whole_text(double value) {
  return std::to_string(value < 0x1p63 ? static_cast<std::int64_t>(value) : std::numeric_limits<std::int64_t>::max());
}

/// An upper end that only guards against nonsense is said where it is passed, not where something else is wrong.
bool worth_saying(double most) { return most <= 4096; }

/// The range in words.
std::string range(const Type& type, const std::string& noun) {
  const bool capped = worth_saying(type.most);
  if (type.above_least) return noun + " above " + plain(type.least) + (capped ? ", at most " + plain(type.most) : "");
  if (type.least == type.most) return plain(type.least);
  if (capped) return noun + " from " + plain(type.least) + " to " + plain(type.most);
  return noun + " of at least " + plain(type.least);
}

std::string quantity(const Type& type, std::string_view noun, std::string_view example, std::string_view units) {
  std::string words = "a " + std::string(noun);
  if (type.above_least) words += " above zero";
  return words.append(" with its unit, such as '").append(example).append("' (").append(units).append(")");
}

bool in_range(const Type& type, double value) {
  return value <= type.most && (type.above_least ? value > type.least : value >= type.least);
}

/// Stores the value; false where the text is not one of this type.
bool parse(const Type& type, const std::string& text, Value& value) {
  const auto store = [](auto parsed, auto& member) {
    if (parsed) member = *parsed;
    return parsed.has_value();
  };
  switch (type.kind) {
    case Kind::whole:
      if (!store(parse_whole(text), value.whole)) return false;
      value.number = static_cast<double>(value.whole);
      return in_range(type, value.number);
    case Kind::number:
      return store(parse_number(text), value.number) && in_range(type, value.number);
    case Kind::flag:
      value.flag = text == "true";
      return text == "true" || text == "false";
    case Kind::choice: {
      const Names names = type.names();
      value.choice = static_cast<std::size_t>(std::find(names.begin(), names.end(), text) - names.begin());
      return value.choice < names.size();
    }
    case Kind::time:
      return store(parse_time(text), value.time) && in_range(type, static_cast<double>(value.time.value));
    case Kind::bytes:
      return store(parse_bytes(text), value.bytes) && in_range(type, static_cast<double>(value.bytes.value));
    case Kind::bandwidth:
      return store(parse_bandwidth(text), value.bandwidth) && in_range(type, value.bandwidth.value);
    case Kind::flop_rate:
      return store(parse_flop_rate(text), value.flop_rate) && in_range(type, value.flop_rate.value);
    case Kind::power:
      return store(parse_power(text), value.power) && in_range(type, value.power.value);
    case Kind::duration:
      return store(parse_duration(text), value.duration) && in_range(type, value.duration.value);
    case Kind::text:
    case Kind::block:
    case Kind::list:
      return true;
  }
  return true;
}

/// "at most X" where the text would be right but for its size; empty otherwise.
std::string past_the_end(const Type& type, const std::string& text) {
  Type open = type;
  open.most = std::numeric_limits<double>::infinity();
  Value value;
  const bool many_digits = type.kind == Kind::whole && text.size() > 1 && text[0] != '0' &&
                           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!std::isfinite(type.most) || worth_saying(type.most) || !(many_digits || parse(open, text, value))) return {};
  switch (type.kind) {
    case Kind::whole:
      return "at most " + whole_text(type.most);
    case Kind::number:
      return "at most " + plain(type.most);
    case Kind::time:
      return "at most 1 s";
    case Kind::bytes:
      return "at most 1000 TB";
    default:
      return {};
  }
}

std::string joined(const Names& names) {
  std::string text;
  for (const std::string_view name : names) text.append(text.empty() ? "" : ", ").append(name);
  return text;
}

bool known_for_later(const Type& type, const std::string& text) {
  if (type.later_names == nullptr) return false;
  const Names names = type.later_names();
  return std::find(names.begin(), names.end(), text) != names.end();
}

}  // namespace

std::string expected(const Type& type) {
  switch (type.kind) {
    case Kind::text:
      return "text";
    case Kind::whole:
      return range(type, "a whole number");
    case Kind::number:
      return range(type, "a number");
    case Kind::flag:
      return "true or false";
    case Kind::choice:
      return one_of("", type.names());
    case Kind::time:
      return quantity(type, "time", "1.3 us", time_units());
    case Kind::bytes:
      return quantity(type, "size", "80 GiB", bytes_units());
    case Kind::bandwidth:
      return quantity(type, "bandwidth", "25 GB/s", bandwidth_units());
    case Kind::flop_rate:
      return quantity(type, "rate", "312 TFLOP/s", flop_rate_units());
    case Kind::power:
      return quantity(type, "power", "700 W", power_units());
    case Kind::duration:
      return quantity(type, "time", "50000 h", duration_units());
    case Kind::block: {
      std::string words("a file of configs/");
      return words.append(type.fields().folder).append("/ by its name, or a mapping");
    }
    case Kind::list: {
      std::string words("a list ");
      if (type.names != nullptr) words += "of " + joined(type.names()) + ", ";
      return words.append("such as ").append(type.example);
    }
  }
  return {};
}

Value convert(const Type& type, const Node& node, const std::string& path) {
  Value value;
  value.node = &node;
  value.path = path;
  if (node.kind != Node::Kind::scalar) fail(node.place, path, "found " + found(node) + ", expected " + expected(type));
  value.text = node.scalar;
  if (parse(type, node.scalar, value)) return value;
  if (known_for_later(type, node.scalar))
    fail(node.place, path, found(node) + " is known, not built yet; expected " + one_of("", type.names()));
  if (const std::string end = past_the_end(type, node.scalar); !end.empty()) {
    fail(node.place, path, "found " + found(node) + ", expected " + end);
  }
  fail(node.place, path,
       "found " + found(node) + ", expected " +
           (type.kind == Kind::choice ? one_of(node.scalar, type.names())
                                      : expected(type) + unit_meant(type.kind, node.scalar)));
}

std::vector<Value> items(const Type& type, const Value& list) {
  std::vector<Value> values;
  for (std::size_t i = 0; i < list.node->items.size(); ++i)
    values.push_back(convert(type, list.node->items[i], list.path + "[" + std::to_string(i) + "]"));
  return values;
}

}  // namespace stepcast::language
