#include "app/sweep/condition.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <utility>

#include "language/core/file_text.h"
#include "language/core/nearest.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"
#include "sim/units_text.h"

namespace stepcast::app {

struct Condition::Step {
  enum class StepKind : std::uint8_t {
    constant,
    name,
    equal,
    unequal,
    less,
    at_most,
    more,
    at_least,
    add,
    subtract,
    multiply,
    divide,
    remainder,
    both,
    either
  };
  StepKind does = StepKind::constant;
  Datum constant{};
  std::size_t name = 0;
};

namespace {

using Step = Condition::Step;
using StepKind = Step::StepKind;
using DatumKind = NamedDatum::Kind;
using Measure = NamedDatum::Measure;

constexpr std::size_t kLongest = 2000;
constexpr int kDeepest = 50;

struct Binary {
  std::string_view sign;
  StepKind does;
};
constexpr Binary kComparisons[] = {{"==", StepKind::equal},    {"!=", StepKind::unequal}, {"<=", StepKind::at_most},
                                   {">=", StepKind::at_least}, {"=", StepKind::equal},    {"<", StepKind::less},
                                   {">", StepKind::more}};
constexpr Binary kSums[] = {{"+", StepKind::add}, {"-", StepKind::subtract}};
constexpr Binary kProducts[] = {{"*", StepKind::multiply}, {"/", StepKind::divide}, {"%", StepKind::remainder}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/// What is known of an operand before anything is evaluated.
struct Operand {
  DatumKind kind = DatumKind::number;
  Measure measure = Measure::none;
  std::vector<std::string_view> choices{};
  std::optional<std::string> word{};  ///< one that is no name: a text beside a text, else a mistake
  std::string shown{};                ///< as written
  bool lacks_unit = false;            ///< a number without one, other than 0; of a name: it has none either
};

class ConditionParser {
 public:
  ConditionParser(const std::string& text, const Vocabulary& vocabulary, const std::string& option)
      : place_(option + " " + shortened(text, 120)), rest_(text), vocabulary_(vocabulary) {
    if (text.size() > kLongest) fail("found more than 2000 characters, expected a condition");
    if (!text.empty()) language::checked_text(text, place_);
  }

  std::vector<Step> parse() {
    const Operand whole = condition(0);
    skip();
    if (!rest_.empty())
      fail("found " + in_quotes(rest_) + " behind " + in_quotes(whole.shown) +
           ", expected and, or, an operator or the end");
    require(whole, DatumKind::flag, "a comparison, such as parallelism.tensor<=8, or fits");
    return std::move(steps_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw InputError(place_, what); }

  void skip() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\n"), rest_.size())); }

  bool take_sign(std::string_view sign) {
    skip();
    if (!rest_.starts_with(sign)) return false;
    rest_.remove_prefix(sign.size());
    return true;
  }

  /// A word that stands alone.
  bool take_word(std::string_view word) {
    skip();
    if (word_ahead() != word) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  std::string_view word_ahead() const {
    std::size_t end = 0;
    while (end < rest_.size() && (is_letter(rest_[end]) || is_digit(rest_[end]) || rest_[end] == '.' ||
                                  (rest_[end] == '-' && end > 0 && end + 1 < rest_.size() &&
                                   (is_letter(rest_[end + 1]) || is_digit(rest_[end + 1])))))
      ++end;
    return rest_.substr(0, end);
  }

  static std::string joined(const Operand& left, std::string_view sign, const Operand& right) {
    return left.shown + std::string(sign) + right.shown;
  }

  void require(const Operand& operand, DatumKind kind, const std::string& expected) const {
    if (operand.word) unknown(*operand.word);
    if (operand.kind != kind) fail("found " + in_quotes(operand.shown) + ", expected " + expected);
  }

  [[noreturn]] void unknown(const std::string& word) const {
    const std::vector<std::string_view> names(vocabulary_.names.begin(), vocabulary_.names.end());
    fail("found the unknown name " + in_quotes(word) + ", expected " + std::string(vocabulary_.of) +
         language::did_you_mean(word, names));
  }

  void push(StepKind does) { steps_.push_back({does, {}, 0}); }

  Operand condition(int depth) {
    Operand left = conjunction(depth);
    while (take_word("or")) left = logical(left, conjunction(depth), " or ", StepKind::either);
    return left;
  }

  Operand conjunction(int depth) {
    Operand left = comparison(depth);
    while (take_word("and")) left = logical(left, comparison(depth), " and ", StepKind::both);
    return left;
  }

  Operand logical(const Operand& left, const Operand& right, std::string_view sign, StepKind does) {
    for (const Operand* side : {&left, &right}) require(*side, DatumKind::flag, "a comparison there");
    push(does);
    return {DatumKind::flag, Measure::none, {}, {}, joined(left, sign, right)};
  }

  Operand comparison(int depth) {
    Operand left = sum(depth);
    for (const auto& [sign, does] : kComparisons) {
      if (!take_sign(sign)) continue;
      const Operand right = sum(depth);
      const bool orders = does != StepKind::equal && does != StepKind::unequal;
      check_comparable(left, right, orders);
      push(does);
      return {DatumKind::flag, Measure::none, {}, {}, joined(left, sign, right)};
    }
    return left;
  }

  void check_comparable(const Operand& left, const Operand& right, bool orders) const {
    if (left.word && right.word) unknown(*left.word);
    for (const auto& [side, other] : {std::pair(&left, &right), std::pair(&right, &left)}) {
      if (!side->word) continue;
      if (other->kind != DatumKind::text) unknown(*side->word);
      if (!other->choices.empty() && std::ranges::find(other->choices, *side->word) == other->choices.end())
        fail("found " + in_quotes(*side->word) + " beside " + other->shown + ", expected " +
             language::one_of(*side->word, other->choices));
    }
    for (const auto& [side, other] : {std::pair(&left, &right), std::pair(&right, &left)})
      if (side->measure == Measure::none && side->lacks_unit && other->lacks_unit && !example(other->measure).empty())
        fail("found " + in_quotes(other->shown) + " beside " + side->shown + ", expected a unit, such as " +
             side->shown + std::string(example(other->measure)));
    if (left.kind != right.kind || (orders && left.kind != DatumKind::number) || unlike(left, right))
      fail("found " + in_quotes(left.shown) + " and " + in_quotes(right.shown) + ", which cannot be compared" +
           (orders ? " so" : ""));
  }

  /// The units that a number needs beside a quantity; "": it is in seconds.
  static std::string_view example(Measure measure) {
    switch (measure) {
      case Measure::bytes:
        return " GiB";
      case Measure::bandwidth:
        return " GB/s";
      case Measure::flop_rate:
        return " TFLOP/s";
      default:
        return "";
    }
  }

  static bool unlike(const Operand& left, const Operand& right) {
    return left.measure != Measure::none && right.measure != Measure::none && left.measure != right.measure;
  }

  Operand sum(int depth) {
    Operand left = product(depth);
    for (bool more = true; more;) {
      more = false;
      for (const auto& [sign, does] : kSums)
        if (take_sign(sign)) {
          left = arithmetic(left, product(depth), sign, does);
          more = true;
        }
    }
    return left;
  }

  Operand product(int depth) {
    Operand left = atom(depth);
    for (bool more = true; more;) {
      more = false;
      for (const auto& [sign, does] : kProducts)
        if (take_sign(sign)) {
          left = arithmetic(left, atom(depth), sign, does);
          more = true;
        }
    }
    return left;
  }

  Operand arithmetic(const Operand& left, const Operand& right, std::string_view sign, StepKind does) {
    for (const Operand* side : {&left, &right})
      require(*side, DatumKind::number, "a number beside '" + std::string(sign) + "'");
    const bool adds = does == StepKind::add || does == StepKind::subtract;
    if (adds && unlike(left, right))
      fail("found " + in_quotes(left.shown) + " and " + in_quotes(right.shown) + ", which do not add");
    push(does);
    const Measure measure = left.measure == Measure::none ? right.measure : left.measure;
    return {DatumKind::number, adds ? measure : Measure::none, {}, {}, joined(left, sign, right)};
  }

  Operand atom(int depth) {
    skip();
    if (take_sign("(")) {
      if (depth == kDeepest) fail("found more than 50 brackets in each other, expected fewer");
      Operand inside = condition(depth + 1);
      if (!take_sign(")")) fail("found a '(' that never ends, expected a closing ')'");
      inside.shown = "(" + inside.shown + ")";
      return inside;
    }
    if (rest_.starts_with('\'')) return quoted();
    if (!rest_.empty() && is_digit(rest_.front()))
      if (std::optional<Operand> found = number()) return *found;
    const std::string word(word_ahead());
    if (word.empty())
      fail(rest_.empty() ? "found its end, expected a key, a result or a value"
                         : "found " + in_quotes(rest_) + ", expected a key, a result or a value");
    rest_.remove_prefix(word.size());
    return named(word);
  }

  Operand constant(DatumKind kind, Measure measure, Datum value, std::string shown) {
    steps_.push_back({StepKind::constant, std::move(value), 0});
    return {kind, measure, {}, {}, std::move(shown)};
  }

  Operand quoted() {
    const std::size_t end = rest_.find('\'', 1);
    if (end == std::string_view::npos) fail("found a quote that never ends, expected a closing one");
    const std::string text(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return constant(DatumKind::text, Measure::none, text, "'" + text + "'");
  }

  Operand named(const std::string& word) {
    if (word == "true" || word == "false") return constant(DatumKind::flag, Measure::none, word == "true", word);
    if (const std::optional<NamedDatum> name = vocabulary_.find(word)) {
      steps_.push_back({StepKind::name, {}, name->number});
      const bool has_unit = word.ends_with("_s") || word.ends_with("_bytes");  // as results write their keys
      return {name->kind, name->measure, name->choices, {}, word, !has_unit};
    }
    Operand text = constant(DatumKind::text, Measure::none, word, word);
    text.word = word;
    return text;
  }

  /// Nothing where a word goes on behind the digits: 1f1b.
  std::optional<Operand> number() {
    double value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    const auto digits = static_cast<std::size_t>(end - rest_.data());
    if (error != std::errc{}) fail("found " + in_quotes(rest_) + ", expected a number that is not as large");
    std::string_view behind = rest_.substr(digits);
    if (behind.starts_with(' ')) behind.remove_prefix(1);
    std::size_t unit = 0;
    while (unit < behind.size() && is_letter(behind[unit])) ++unit;
    const std::size_t gap = rest_.size() - digits - behind.size();
    for (const std::size_t length : {behind.substr(unit).starts_with("/s") ? unit + 2 : unit, unit}) {
      if (length == 0) continue;
      const std::string written(rest_.substr(0, digits + gap + length));
      if (std::optional<Operand> found = quantity(written)) {
        rest_.remove_prefix(written.size());
        return found;
      }
    }
    if (word_ahead().size() > digits) return std::nullopt;
    std::string shown(rest_.substr(0, digits));
    rest_.remove_prefix(digits);
    Operand bare = constant(DatumKind::number, Measure::none, value, std::move(shown));
    bare.lacks_unit = value != 0;
    return bare;
  }

  std::optional<Operand> quantity(const std::string& written) {
    if (const auto time = parse_time(written))
      return constant(DatumKind::number, Measure::time, to_seconds(*time), written);
    if (const auto bytes = parse_bytes(written))
      return constant(DatumKind::number, Measure::bytes, static_cast<double>(bytes->value), written);
    if (const auto rate = parse_bandwidth(written))
      return constant(DatumKind::number, Measure::bandwidth, rate->value, written);
    if (const auto rate = parse_flop_rate(written))
      return constant(DatumKind::number, Measure::flop_rate, rate->value, written);
    return std::nullopt;
  }

  const std::string place_;
  std::string_view rest_;
  const Vocabulary& vocabulary_;
  std::vector<Step> steps_;
};

Datum compared(StepKind does, const Datum& left, const Datum& right) {
  if (std::holds_alternative<std::monostate>(left) || std::holds_alternative<std::monostate>(right)) return false;
  switch (does) {
    case StepKind::equal:
      return left == right;
    case StepKind::unequal:
      return left != right;
    case StepKind::less:
      return left < right;
    case StepKind::at_most:
      return left <= right;
    case StepKind::more:
      return left > right;
    default:
      return left >= right;
  }
}

bool is_true(const Datum& datum) {
  const bool* const flag = std::get_if<bool>(&datum);
  return flag != nullptr && *flag;
}

Datum combined(StepKind does, const Datum& left, const Datum& right) {
  if (does == StepKind::both) return is_true(left) && is_true(right);
  if (does == StepKind::either) return is_true(left) || is_true(right);
  const double *a = std::get_if<double>(&left), *b = std::get_if<double>(&right);
  if (does < StepKind::add) return compared(does, left, right);
  if (a == nullptr || b == nullptr) return {};
  switch (does) {
    case StepKind::add:
      return *a + *b;
    case StepKind::subtract:
      return *a - *b;
    case StepKind::multiply:
      return *a * *b;
    default:
      break;
  }
  if (*b == 0) return {};
  return does == StepKind::divide ? *a / *b : std::fmod(*a, *b);
}

}  // namespace

Condition::Condition(const std::string& text, const Vocabulary& vocabulary, const std::string& option)
    : steps_(std::make_shared<const std::vector<Step>>(ConditionParser(text, vocabulary, option).parse())) {
  for (const Step& step : *steps_)
    if (step.does == StepKind::name) uses_.push_back(step.name);
}

bool Condition::holds(const std::function<Datum(std::size_t)>& value) const {
  std::vector<Datum> stack;
  for (const Step& step : *steps_) {
    if (step.does == StepKind::constant) {
      stack.push_back(step.constant);
    } else if (step.does == StepKind::name) {
      stack.push_back(value(step.name));
    } else {
      const Datum right = std::move(stack.back());
      stack.pop_back();
      stack.back() = combined(step.does, stack.back(), right);
    }
  }
  return is_true(stack.back());
}

}  // namespace stepcast::app
