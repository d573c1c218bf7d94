#include "language/frameworks/text/condition.h"

#include <algorithm>
#include <charconv>
#include <compare>
#include <optional>
#include <string_view>
#include <vector>

#include "language/frameworks/text/shell_pattern.h"

namespace stepcast::language {
namespace {

/// How two whole numbers compare; nothing: one is none.
std::optional<std::strong_ordering> numbers_compared(const std::string& a, const std::string& b) {
  const auto number = [](const std::string& text) -> std::optional<std::int64_t> {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
  };
  const auto left = number(a), right = number(b);
  return left && right ? std::optional(*left <=> *right) : std::nullopt;
}

/// Whether -lt, say, is what the order is. Nothing: another word.
std::optional<bool> order_holds(std::strong_ordering order, std::string_view word) {
  if (word == "-eq") return std::is_eq(order);
  if (word == "-ne") return std::is_neq(order);
  if (word == "-lt") return std::is_lt(order);
  if (word == "-le") return std::is_lteq(order);
  if (word == "-gt") return std::is_gt(order);
  if (word == "-ge") return std::is_gteq(order);
  return std::nullopt;
}

Truth truth(bool value) { return value ? Truth::yes : Truth::no; }

}  // namespace

Truth opposite(Truth truth) {
  return truth == Truth::yes ? Truth::no : truth == Truth::no ? Truth::yes : Truth::unknown;
}

Truth both(Truth a, Truth b) {
  if (a == Truth::no || b == Truth::no) return Truth::no;
  return a == Truth::yes && b == Truth::yes ? Truth::yes : Truth::unknown;
}

Truth either(Truth a, Truth b) { return opposite(both(opposite(a), opposite(b))); }

Truth holds(std::span<const ShellWord> words) {
  if (!words.empty() && words.front().text == "!") return opposite(holds(words.subspan(1)));
  const auto text = [&](std::size_t i) { return words[i].text; };
  if (words.size() == 1 && (text(0) == "true" || text(0) == "false")) return truth(text(0) == "true");
  const bool known =
      std::ranges::none_of(words, [](const ShellWord& word) { return word.text.find('$') != word.text.npos; });
  if (!known || words.size() < 2 || (text(0) != "[" && text(0) != "[[")) return Truth::unknown;
  const bool whole = text(0) == "[[";
  if (words.back().text != (whole ? "]]" : "]")) return Truth::unknown;
  if (words.size() > 2 && text(1) == "!") {
    std::vector<ShellWord> rest{words[0]};
    rest.insert(rest.end(), words.begin() + 2, words.end());
    return opposite(holds(rest));
  }
  // [[ ]] does not split: of "[[ -n $A ]]" and "[[ $A == b ]]" with an empty A a word is missing.
  if (words.size() == 2) return Truth::no;
  const bool is_option = words.size() == 3 && whole && text(1).size() == 2 && text(1)[0] == '-';
  if (words.size() == 3) return truth(is_option ? text(1) == "-z" : !text(1).empty());
  const auto compares = [&](std::size_t i) { return text(i) == "==" || text(i) == "=" || text(i) == "!="; };
  if (words.size() == 4 && whole && compares(1)) return truth(text(2).empty() == (text(1) != "!="));
  if (words.size() == 4 && whole && compares(2)) return truth(text(1).empty() == (text(2) != "!="));
  if (words.size() == 4 && (text(1) == "-z" || text(1) == "-n")) return truth(text(2).empty() == (text(1) == "-z"));
  if (words.size() != 5) return Truth::unknown;
  if (text(2) == "==" || text(2) == "=" || text(2) == "!=") return truth((text(1) == text(3)) == (text(2) != "!="));
  if (const auto order = numbers_compared(text(1), text(3)))
    if (const auto told = order_holds(*order, text(2))) return truth(*told);
  return Truth::unknown;
}

Truth fits(const std::string& text, const std::string& pattern) {
  if (pattern == "*") return Truth::yes;
  const std::optional<bool> fitting = fits_pattern(text, pattern);
  return text.find('$') != text.npos || !fitting ? Truth::unknown : truth(*fitting);
}

}  // namespace stepcast::language
