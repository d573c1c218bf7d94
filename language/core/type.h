#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "language/core/tree.h"
#include "sim/run_units.h"
#include "sim/units.h"

namespace stepcast::language {

struct Schema;
using Names = std::vector<std::string_view>;

/// What may stand behind a key. Made by the functions below.
struct Type {
  enum class Kind : std::uint8_t {
    text,
    whole,
    number,
    flag,
    choice,
    time,
    bytes,
    bandwidth,
    flop_rate,
    power,
    duration,
    block,
    list
  };
  Kind kind = Kind::text;
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool above_least = false;          ///< `least` itself is not allowed
  Names (*names)() = nullptr;        ///< choice: what can be chosen, in the order of the enumeration; list: what of
  Names (*later_names)() = nullptr;  ///< choice: known, not built yet
  /// block: a file of configs/ by its name, or a mapping of these keys; list: of mappings of these keys.
  const Schema& (*fields)() = nullptr;
  std::string_view example = "[a, b]";  ///< list: one as it is written
};

Type text_type();
Type whole(std::int64_t least, std::int64_t most = std::numeric_limits<std::int64_t>::max());
Type number(double least, double most = std::numeric_limits<double>::infinity());
Type fraction();  ///< (0, 1]
Type flag();
Type choice(Names (*names)(), Names (*later)() = nullptr);
Type time_type();      ///< a latency: up to a second
Type positive_time();  ///< of a step: up to the 106 days a time can hold
Type bytes_type();     ///< up to 1 PB, so that sums of sizes stay whole
Type positive_bytes();
Type bandwidth_type();
Type flop_rate_type();
Type power_type();
Type duration_type();  ///< above zero, of any length
Type block(const Schema& (*fields)());
Type list_type(std::string_view example, Names (*names)() = nullptr);
Type list_of_mappings(std::string_view example, const Schema& (*fields)());

class Library;

/// A node after its type was checked: the member its type speaks of is set.
struct Value {
  const Node* node = nullptr;
  std::string path;
  Library* library = nullptr;  ///< reads the configs a block names
  std::string text;            ///< text; the name of the file for a block given by name
  bool by_name = false;        ///< a block: by its name alone, with nothing laid over it
  std::int64_t whole = 0;      ///< whole
  double number = 0;           ///< whole and number
  bool flag = false;
  std::size_t choice = 0;  ///< position in names()
  Time time{};
  Bytes bytes{};
  Bandwidth bandwidth{};
  FlopRate flop_rate{};
  Power power{};
  Duration duration{};
};

/// The one shape of all complaints about a value.
[[noreturn]] void fail(const Place& place, const std::string& path, const std::string& what);

}  // namespace stepcast::language
