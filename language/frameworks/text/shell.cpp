#include "language/frameworks/text/shell.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <compare>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "sim/input_error.h"

namespace stepcast::language {
namespace {

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// Longer than any script that starts a training, and short enough for variables that hold each other.
constexpr std::size_t kMostText = 1'000'000;

class ShellScript {
 public:
  ShellScript(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  std::vector<ShellWord> command() {
    while (at_ < text_.size()) read_command();
    return most_flags_;
  }

 private:
  using ShellWords = std::vector<ShellWord>;

  Place here() const { return {file_, line_, static_cast<std::uint32_t>(at_ - line_begin_ + 1)}; }
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  char next() {
    const char c = text_[at_++];
    if (c == '\n') {
      ++line_;
      line_begin_ = at_;
    }
    return c;
  }

  /// Blanks, continued lines, comments.
  void skip_blanks() {
    while (at_ < text_.size()) {
      if (peek() == '\\' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'))) {
        while (next() != '\n') continue;
      } else if (peek() == '#') {
        while (at_ < text_.size() && peek() != '\n') next();
      } else if (is_space(peek())) {
        next();
      } else {
        return;
      }
    }
  }

  void read_command() {
    ShellWords words;
    std::string connector;
    for (skip_blanks(); at_ < text_.size(); skip_blanks()) {
      const char c = peek();
      if (c == '\n' || c == ';' || c == '&' || c == '|' || c == '(' || c == ')' || c == '<' || c == '>') {
        connector = next();
        if (peek() == c && (c == '&' || c == '|')) connector += next();
        break;
      }
      if (words.empty() && read_assignment()) continue;
      for (ShellWord& word : read_word())
        if (!words.empty() || !(branches(word.text) || goes_before_commands(word.text)))
          words.push_back(std::move(word));
    }
    if (in_condition_) return read_condition(words, connector);
    const auto flags = [](const ShellWords& all) {
      return std::ranges::count_if(all, [](const ShellWord& word) { return word.text.starts_with("--"); });
    };
    if (runs() && flags(words) > flags(most_flags_)) most_flags_ = std::move(words);
  }

  /// Whether what is read now runs, as far as it is known.
  bool runs() const {
    return std::ranges::all_of(branches_, [](const Branch& branch) { return branch.runs != Truth::no; });
  }

  /// Follows if, elif, else and fi; whether the word is one of them.
  bool branches(const std::string& word) {
    if (word == "if") branches_.emplace_back();
    if (word == "if" || (word == "elif" && !branches_.empty())) {
      in_condition_ = true;
      condition_.reset();
      return true;
    }
    if (branches_.empty()) return false;
    Branch& branch = branches_.back();
    if (word == "then" && in_condition_) {
      in_condition_ = false;
      const Truth holds = condition_.value_or(Truth::unknown);
      branch.runs = branch.taken == Truth::yes ? Truth::no : holds;
      if (branch.taken != Truth::yes && holds != Truth::no) branch.taken = holds;
      return true;
    }
    if (word == "else") {
      branch.runs = branch.taken == Truth::yes ? Truth::no : branch.taken == Truth::no ? Truth::yes : Truth::unknown;
      return true;
    }
    if (word == "fi") branches_.pop_back();
    return word == "fi";
  }

  enum class Truth : std::uint8_t { no, yes, unknown };
  struct Branch {
    Truth runs = Truth::unknown, taken = Truth::no;  ///< taken: whether an earlier branch of the same if runs
  };

  /// Of [[ a == b ]] and [[ -z a ]], with what follows from the commands before it.
  void read_condition(const ShellWords& words, const std::string& connector) {
    Truth holds = Truth::unknown;
    const auto text = [&](std::size_t i) { return i < words.size() ? words[i].text : std::string(); };
    const bool known =
        std::ranges::none_of(words, [](const ShellWord& word) { return word.text.find('$') != word.text.npos; });
    if (known && words.size() == 5 && (text(2) == "==" || text(2) == "=" || text(2) == "!="))
      holds = (text(1) == text(3)) == (text(2) != "!=") ? Truth::yes : Truth::no;
    if (known && words.size() == 4 && (text(1) == "-z" || text(1) == "-n"))
      holds = text(2).empty() == (text(1) == "-z") ? Truth::yes : Truth::no;
    if (const auto order = known && words.size() == 5 ? numbers_compared(text(1), text(3)) : std::nullopt)
      if (const auto told = order_holds(*order, text(2))) holds = *told ? Truth::yes : Truth::no;
    if (words.size() == 1 && (text(0) == "true" || text(0) == "false"))
      holds = text(0) == "true" ? Truth::yes : Truth::no;
    if (words.empty()) return;
    if (!condition_)
      condition_ = holds;
    else if (joined_by_ == "||")
      condition_ = *condition_ == Truth::yes || holds == Truth::yes ? Truth::yes
                   : *condition_ == Truth::no && holds == Truth::no ? Truth::no
                                                                    : Truth::unknown;
    else
      condition_ = *condition_ == Truth::no || holds == Truth::no     ? Truth::no
                   : *condition_ == Truth::yes && holds == Truth::yes ? Truth::yes
                                                                      : Truth::unknown;
    joined_by_ = connector;
  }

  /// How two whole numbers compare; nothing: one is none.
  static std::optional<std::strong_ordering> numbers_compared(const std::string& a, const std::string& b) {
    const auto number = [](const std::string& text) -> std::optional<std::int64_t> {
      std::int64_t value = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
    };
    const auto left = number(a), right = number(b);
    return left && right ? std::optional(*left <=> *right) : std::nullopt;
  }

  /// Whether -lt, say, is what the order is. Nothing: another word.
  static std::optional<bool> order_holds(std::strong_ordering order, std::string_view word) {
    if (word == "-eq") return std::is_eq(order);
    if (word == "-ne") return std::is_neq(order);
    if (word == "-lt") return std::is_lt(order);
    if (word == "-le") return std::is_lteq(order);
    if (word == "-gt") return std::is_gt(order);
    if (word == "-ge") return std::is_gteq(order);
    return std::nullopt;
  }

  /// Whether it is not known that what is read now runs.
  bool may_run() const {
    return std::ranges::any_of(branches_, [](const Branch& branch) { return branch.runs == Truth::unknown; });
  }

  /// What a variable holds behind an assignment that may not run is not known where it was given something else before:
  /// where it is used, its name is left as it is written.
  void assign(const std::string& name, ShellWords values, bool adds) {
    const auto before = variables_.find(name);
    const auto alike = [](const ShellWord& a, const ShellWord& b) { return a.text == b.text; };
    if (!may_run()) {
      untold_.erase(name);
    } else if (!adds && before != variables_.end() && !std::ranges::equal(before->second, values, alike)) {
      untold_.insert(name);
    }
    if (untold_.contains(name)) {
      variables_.erase(name);
      return;
    }
    ShellWords& known = variables_[name];
    if (!adds) known.clear();
    std::ranges::move(values, std::back_inserter(known));
  }

  static bool goes_before_commands(const std::string& word) {
    static constexpr std::array<std::string_view, 5> kWords{"do", "done", "export", "local", "exec"};
    return std::ranges::find(kWords, word) != kWords.end();
  }

  /// NAME=value, NAME=(values), and the same with += .
  bool read_assignment() {
    std::size_t end = at_;
    while (end < text_.size() && is_name(text_[end])) ++end;
    const bool adds = end + 1 < text_.size() && text_[end] == '+' && text_[end + 1] == '=';
    if (end == at_ || end >= text_.size() || !(adds || text_[end] == '=')) return false;
    const std::string name(text_.substr(at_, end - at_));
    at_ = end + (adds ? 2 : 1);
    ShellWords values;
    if (peek() == '(') {
      const Place begin = here();
      next();
      while (skip_lines(), peek() != ')') {
        if (at_ >= text_.size())
          throw InputError(language::text(begin), "found an array that does not end, expected )");
        const std::size_t before = at_;
        std::ranges::move(read_word(), std::back_inserter(values));
        if (at_ == before) next();  // a character that is of no word
      }
      next();
    } else if (at_ < text_.size() && !is_space(peek()) && peek() != '\n' && peek() != ';') {
      ShellWord whole{.text = {}, .place = here()};
      for (const ShellWord& part : read_word()) whole.text += (whole.text.empty() ? "" : " ") + part.text;
      values.push_back(std::move(whole));
    }
    if (!runs()) return true;
    assign(name, std::move(values), adds);
    return true;
  }

  void skip_lines() {
    for (skip_blanks(); peek() == '\n'; skip_blanks()) next();
  }

  /// One word of the text, which variables make several of, or none.
  ShellWords read_word() {
    ShellWords words;
    std::optional<ShellWord> open;
    const auto add = [&](std::string_view part, const Place& place) {
      if (!open || open->text.empty()) open = ShellWord{.text = {}, .place = place};
      open->text += part;
      written_ += part.size() + 1;
      if (written_ > kMostText)
        throw InputError(language::text(place), "found variables that hold more than a million characters");
    };
    const auto add_split = [&](const ShellWords& values, const Place& place, bool quoted) {
      for (const ShellWord& value : values) {
        if (&value != &values.front() && open) words.push_back(*std::exchange(open, std::nullopt));
        if (quoted) {
          add(value.text, values.size() > 1 ? value.place : place);
          continue;
        }
        for (std::size_t i = 0; i < value.text.size();) {
          const std::size_t end = std::min(value.text.find_first_of(" \t\n", i), value.text.size());
          if (end > i) add(std::string_view(value.text).substr(i, end - i), values.size() > 1 ? value.place : place);
          if (end < value.text.size() && open) words.push_back(*std::exchange(open, std::nullopt));
          i = end + 1;
        }
      }
    };
    bool in_quotes_now = false;
    const Place begin = here();
    while (at_ < text_.size()) {
      const Place place = here();
      const char c = peek();
      if (c == '"') {
        next();
        in_quotes_now = !in_quotes_now;
        add("", place);
      } else if (c == '\'' && !in_quotes_now) {
        next();
        const std::size_t end = text_.find('\'', at_);
        if (end == text_.npos) throw InputError(language::text(place), "found a quote that does not end, expected '");
        const std::size_t from = at_;
        while (at_ < end) next();
        add(text_.substr(from, end - from), place);
        next();
      } else if (c == '\\' && at_ + 1 < text_.size()) {
        next();
        const char escaped = next();
        if (escaped != '\n') add(std::string(1, escaped), place);
        if (escaped == '\n' && !in_quotes_now) break;
      } else if (c == '$') {
        add_split(read_dollar(), place, in_quotes_now);
      } else if (!in_quotes_now && (is_space(c) || std::string_view("\n;&|()<>").find(c) != std::string_view::npos)) {
        break;
      } else {
        add(std::string(1, next()), place);
      }
    }
    if (in_quotes_now) throw InputError(language::text(begin), "found a quote that does not end, expected \"");
    if (open) words.push_back(*open);
    return words;
  }

  /// What stands behind a dollar sign, put in.
  ShellWords read_dollar() {
    const Place place = here();
    const std::size_t begin = at_;
    next();
    const auto as_written = [&]() -> ShellWords { return {{std::string(text_.substr(begin, at_ - begin)), place}}; };
    if (peek() == '(') {
      int depth = 0;
      while (at_ < text_.size()) {
        const char c = next();
        depth += c == '(' ? 1 : c == ')' ? -1 : 0;
        if (depth == 0) break;
      }
      const std::string_view whole = text_.substr(begin, at_ - begin);
      if (!whole.starts_with("$((") || !whole.ends_with("))")) return as_written();
      const auto value = sum(whole.substr(3, whole.size() - 5));
      return value ? ShellWords{{std::to_string(*value), place}} : as_written();
    }
    std::string name, fallback;
    if (peek() == '{') {
      const std::size_t end = text_.find('}', at_);
      if (end == text_.npos) throw InputError(language::text(place), "found ${ that does not end, expected }");
      const std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
      while (at_ <= end) next();
      const std::size_t length = static_cast<std::size_t>(std::ranges::find_if_not(inside, is_name) - inside.begin());
      name = inside.substr(0, length);
      const std::string_view rest = inside.substr(length);
      if (rest.starts_with(":-"))
        fallback = rest.substr(2);
      else if (!rest.empty() && rest != "[@]" && rest != "[*]")
        return as_written();
      std::erase(fallback, '"');
    } else {
      while (at_ < text_.size() && is_name(peek())) name += next();
    }
    if (untold_.contains(name)) return as_written();
    if (const auto known = variables_.find(name); known != variables_.end()) return known->second;
    if (!fallback.empty() && fallback.find('$') == fallback.npos) return {{fallback, place}};
    return as_written();
  }

  /// A chain of whole numbers and variables with * + - / between them, from left to right, products first; nothing for
  /// anything else.
  std::optional<std::int64_t> sum(std::string_view text) const {
    std::int64_t total = 0, product = 0;
    char operation = '+';
    std::size_t i = 0;
    const auto skip = [&] {
      while (i < text.size() && (is_space(text[i]) || text[i] == '$' || text[i] == '{' || text[i] == '}')) ++i;
    };
    for (skip(); i < text.size(); skip()) {
      std::string word;
      while (i < text.size() && is_name(text[i])) word += text[i++];
      if (const auto known = variables_.find(word); known != variables_.end() && known->second.size() == 1)
        word = known->second.front().text;
      std::int64_t value = 0;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
      if (word.empty() || error != std::errc{} || end != word.data() + word.size() || value > 1'000'000'000)
        return std::nullopt;
      if (operation == '/' && value == 0) return std::nullopt;
      if (operation == '+' || operation == '-') {
        if (__builtin_add_overflow(total, product, &total)) return std::nullopt;
        product = operation == '+' ? value : -value;
      } else if (operation == '*') {
        if (__builtin_mul_overflow(product, value, &product)) return std::nullopt;
      } else {
        product /= value;
      }
      skip();
      if (i == text.size()) break;
      operation = text[i++];
      if (std::string_view("+-*/").find(operation) == std::string_view::npos) return std::nullopt;
    }
    if (__builtin_add_overflow(total, product, &total)) return std::nullopt;
    return total;
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0, line_begin_ = 0, written_ = 0;
  std::uint32_t line_ = 1;
  std::map<std::string, ShellWords> variables_;
  std::set<std::string> untold_;  ///< variables that hold one thing or another
  ShellWords most_flags_;
  std::vector<Branch> branches_;
  bool in_condition_ = false;
  std::optional<Truth> condition_;
  std::string joined_by_;
};

}  // namespace

std::vector<ShellWord> command_of(std::string_view text, const std::string& file) {
  return ShellScript(text, file).command();
}

}  // namespace stepcast::language
