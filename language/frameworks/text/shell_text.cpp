#include "language/frameworks/text/shell_text.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

#include "sim/input_error.h"

namespace stepcast::language {
namespace {

using ShellWords = std::vector<ShellWord>;

/// Longer than any script that starts a training, and short enough for variables that hold each other.
constexpr std::size_t kMostText = 1'000'000;

/// A chain of whole numbers and variables with * + - / between them, from left to right, products first; nothing for
/// anything else.
std::optional<std::int64_t> sum(std::string_view text, const ShellVariables& variables) {
  std::int64_t total = 0, product = 0;
  char operation = '+';
  std::size_t i = 0;
  const auto skip = [&] {
    while (i < text.size() && (is_shell_blank(text[i]) || text[i] == '$' || text[i] == '{' || text[i] == '}')) ++i;
  };
  for (skip(); i < text.size(); skip()) {
    std::string word;
    while (i < text.size() && is_shell_name(text[i])) word += text[i++];
    if (const auto known = variables.known.find(word); known != variables.known.end() && known->second.size() == 1)
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

/// Where what stands at `from` ends: one character, or "$(command)", "${NAME...}" and "`command`" that are left as they
/// are written, because it is not known what they give.
std::size_t end_of_piece(std::string_view text, std::size_t from) {
  if (text[from] == '`') {
    const std::size_t end = text.find('`', from + 1);
    return end == text.npos ? from + 1 : end + 1;
  }
  const char opens = text[from] == '$' && from + 1 < text.size() ? text[from + 1] : '\0';
  if (opens != '(' && opens != '{') return from + 1;
  const char closes = opens == '(' ? ')' : '}';
  int depth = 0;
  for (std::size_t i = from + 1; i < text.size(); ++i) {
    depth += text[i] == opens ? 1 : text[i] == closes ? -1 : 0;
    if (depth == 0) return i + 1;
  }
  return from + 1;
}

/// The end of the word at `from` of what a variable holds.
std::size_t end_of_word(std::string_view text, std::size_t from) {
  while (from < text.size() && text[from] != '\n' && text[from] != ' ' && text[from] != '\t')
    from = end_of_piece(text, from);
  return from;
}

}  // namespace

bool is_shell_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_shell_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

char ShellText::next() {
  const char c = text_[cursor_.at++];
  if (c == '\n') {
    ++cursor_.line;
    cursor_.line_begin = cursor_.at;
  }
  return c;
}

std::string_view ShellText::next_line() {
  const std::size_t from = cursor_.at, end = std::min(text_.find('\n', from), text_.size());
  while (cursor_.at < std::min(end + 1, text_.size())) next();
  std::string_view line = text_.substr(from, end - from);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

void ShellText::skip_blanks() {
  while (!ended()) {
    if (peek() == '\\' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'))) {
      while (next() != '\n') continue;
    } else if (peek() == '#') {
      while (!ended() && peek() != '\n') next();
    } else if (is_shell_blank(peek())) {
      next();
    } else {
      return;
    }
  }
}

void ShellText::skip_lines() {
  for (skip_blanks(); peek() == '\n'; skip_blanks()) next();
}

std::optional<ShellAssignment> ShellText::read_assignment(const ShellVariables& variables) {
  std::size_t end = cursor_.at;
  while (end < text_.size() && is_shell_name(text_[end])) ++end;
  const bool adds = end + 1 < text_.size() && text_[end] == '+' && text_[end + 1] == '=';
  if (end == cursor_.at || end >= text_.size() || !(adds || text_[end] == '=')) return std::nullopt;
  ShellAssignment out{.name = std::string(text_.substr(cursor_.at, end - cursor_.at)), .adds = adds};
  cursor_.at = end + (adds ? 2 : 1);
  if (peek() == '(') {
    const Place begin = here();
    next();
    while (skip_lines(), peek() != ')') {
      if (ended()) throw InputError(language::text(begin), "found an array that does not end, expected )");
      const std::size_t before = cursor_.at;
      std::ranges::move(read_word(variables), std::back_inserter(out.values));
      if (cursor_.at == before) next();  // a character that is of no word
    }
    next();
  } else if (!ended() && !is_shell_blank(peek()) && peek() != '\n' && peek() != ';') {
    ShellWord whole{.text = {}, .place = here()};
    for (const ShellWord& part : read_word(variables)) {
      whole.text += (whole.text.empty() ? "" : " ") + part.text;
      if (!part.doubt.empty()) whole.doubt = part.doubt;
    }
    out.values.push_back(std::move(whole));
  }
  return out;
}

ShellWords ShellText::read_word(const ShellVariables& variables) {
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
        if (!value.doubt.empty()) open->doubt = value.doubt;
        continue;
      }
      for (std::size_t i = 0; i < value.text.size();) {
        const std::size_t end = end_of_word(value.text, i);
        if (end > i) add(std::string_view(value.text).substr(i, end - i), values.size() > 1 ? value.place : place);
        if (end > i && !value.doubt.empty()) open->doubt = value.doubt;
        if (end < value.text.size() && open) words.push_back(*std::exchange(open, std::nullopt));
        i = end + 1;
      }
    }
  };
  bool in_quotes_now = false;
  const Place begin = here();
  while (!ended()) {
    const Place place = here();
    const char c = peek();
    if (c == '"') {
      next();
      in_quotes_now = !in_quotes_now;
      add("", place);
    } else if (c == '\'' && !in_quotes_now) {
      next();
      const std::size_t end = text_.find('\'', cursor_.at);
      if (end == text_.npos) throw InputError(language::text(place), "found a quote that does not end, expected '");
      const std::size_t from = cursor_.at;
      while (cursor_.at < end) next();
      add(text_.substr(from, end - from), place);
      next();
    } else if (c == '\\' && cursor_.at + 1 < text_.size()) {
      next();
      const char escaped = next();
      if (escaped != '\n') add(std::string(1, escaped), place);
      if (escaped == '\n' && !in_quotes_now) break;
    } else if (c == '$') {
      add_split(read_dollar(variables), place, in_quotes_now);
    } else if (c == '`') {
      const std::size_t from = cursor_.at, end = end_of_piece(text_, from);
      while (cursor_.at < end) next();
      add(text_.substr(from, end - from), place);
    } else if (!in_quotes_now &&
               (is_shell_blank(c) || std::string_view("\n;&|()<>").find(c) != std::string_view::npos)) {
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
ShellWords ShellText::read_dollar(const ShellVariables& variables) {
  const Place place = here();
  const std::size_t begin = cursor_.at;
  next();
  const auto as_written = [&]() -> ShellWords {
    return {{std::string(text_.substr(begin, cursor_.at - begin)), place}};
  };
  if (peek() == '(') {
    int depth = 0;
    while (!ended()) {
      const char c = next();
      depth += c == '(' ? 1 : c == ')' ? -1 : 0;
      if (depth == 0) break;
    }
    const std::string_view whole = text_.substr(begin, cursor_.at - begin);
    if (!whole.starts_with("$((") || !whole.ends_with("))")) return as_written();
    const auto value = sum(whole.substr(3, whole.size() - 5), variables);
    return value ? ShellWords{{std::to_string(*value), place}} : as_written();
  }
  std::string name, fallback;
  if (peek() == '{') {
    const std::size_t end = text_.find('}', cursor_.at);
    if (end == text_.npos) throw InputError(language::text(place), "found ${ that does not end, expected }");
    const std::string_view inside = text_.substr(cursor_.at + 1, end - cursor_.at - 1);
    while (cursor_.at <= end) next();
    const std::size_t length =
        static_cast<std::size_t>(std::ranges::find_if_not(inside, is_shell_name) - inside.begin());
    name = inside.substr(0, length);
    const std::string_view rest = inside.substr(length);
    if (rest.starts_with(":-"))
      fallback = rest.substr(2);
    else if (!rest.empty() && rest != "[@]" && rest != "[*]")
      return as_written();
    std::erase(fallback, '"');
  } else {
    if (peek() == '@' || peek() == '#') name = next();  // the words that it is called with, and how many
    while (name != "@" && name != "#" && !ended() && is_shell_name(peek())) name += next();
  }
  if (const auto doubt = variables.doubts.find(name); doubt != variables.doubts.end())
    return {{std::string(text_.substr(begin, cursor_.at - begin)), place, doubt->second}};
  if (const auto known = variables.known.find(name); known != variables.known.end()) return known->second;
  if (!fallback.empty() && fallback.find('$') == fallback.npos) return {{fallback, place}};
  return as_written();
}

}  // namespace stepcast::language
