#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace stepcast::app {

/// A value that conditions speak of: quantities in seconds, bytes, bytes a second and FLOP a second. Nothing: there is
/// none, and a comparison with it does not hold.
using Datum = std::variant<std::monostate, double, bool, std::string>;

/// What a name in a condition stands for.
struct NamedDatum {
  enum class Kind : std::uint8_t { number, flag, text };
  enum class Measure : std::uint8_t { none, time, bytes, bandwidth, flop_rate };
  Kind kind = Kind::number;
  Measure measure = Measure::none;
  std::vector<std::string_view> choices{};  ///< of a text that is one of these; none: any
  std::size_t number = 0;                   ///< by which its value is asked for
};

/// The names that a condition may use.
struct Vocabulary {
  std::function<std::optional<NamedDatum>(const std::string&)>
      find;                                   ///< may throw InputError for one that has no value
  std::vector<std::string> names;             ///< for messages
  std::string_view of = "a key or a result";  ///< likewise: what they are
};

/// A condition of sweep --where and search --until. The grammar:
///
///   condition   := conjunction { "or" conjunction }
///   conjunction := comparison { "and" comparison }
///   comparison  := sum [ ("=" | "==" | "!=" | "<" | "<=" | ">" | ">=") sum ]
///   sum         := product { ("+" | "-") product }
///   product     := atom { ("*" | "/" | "%") atom }
///   atom        := NUMBER | NUMBER UNIT | NAME | WORD | 'TEXT' | "true" | "false" | "(" condition ")"
///
/// A minus inside a word belongs to it (interleaved-1f1b): one that subtracts stands between blanks.
class Condition {
 public:
  /// Throws InputError, "--where CONDITION" its place (or what `option` is), for what is no such condition, for a name
  /// that is not there and for sides that cannot be compared.
  Condition(const std::string& text, const Vocabulary& vocabulary, const std::string& option = "--where");

  /// `value`: of a name, by its number.
  bool holds(const std::function<Datum(std::size_t)>& value) const;

  /// The numbers of the names that it uses.
  const std::vector<std::size_t>& uses() const { return uses_; }

  /// One step of the condition as it is evaluated: each leaves one value.
  struct Step;

 private:
  std::shared_ptr<const std::vector<Step>> steps_;  ///< operands before their operator
  std::vector<std::size_t> uses_;
};

}  // namespace stepcast::app
