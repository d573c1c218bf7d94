#include "language/frameworks/text/shell_text.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

#include "language/frameworks/text/shell_pattern.h"
#include "sim/input_error.h"

namespace stepcast::language {
namespace {

using ShellWords = std::vector<ShellWord>;

/// More than the variables of any script that starts a training hold, and little enough for those that hold each other.
constexpr std::size_t kMostText = 1'000'000;

/// How often a script may write as much as that.
constexpr int kMostCounts = 100;

std::size_t characters(const ShellWords& words) {
  std::size_t all = 0;
  for (const ShellWord& word : words) all += word.text.size() + 1;
  return all;
}

/// More than any script has of defaults inside of defaults.
constexpr int kMostDefaults = 20;

/// A chain of whole numbers and variables with * + - / between them, from left to right, products first; nothing for
/// anything else. `unset`: becomes the name of a variable that nothing sets.
std::optional<std::int64_t> sum(std::string_view text, const ShellVariables& variables, std::string& unset) {
  std::int64_t total = 0, product = 0;
  char operation = '+';
  std::size_t i = 0;
  bool behind_dollar = false;  // "$1" is an argument, "1" a number
  const auto skip = [&] {
    behind_dollar = false;
    for (; i < text.size() && (is_shell_blank(text[i]) || text[i] == '$' || text[i] == '{' || text[i] == '}'); ++i)
      behind_dollar |= text[i] == '$';
  };
  for (skip(); i < text.size(); skip()) {
    std::string word;
    while (i < text.size() && is_shell_name(text[i])) word += text[i++];
    const bool is_name = !word.empty() && (behind_dollar || word.find_first_not_of("0123456789") != word.npos);
    if (const auto known = variables.known.find(word); is_name && known != variables.known.end()) {
      if (known->second.size() != 1) return std::nullopt;
      unset = known->second.front().unset;
      word = known->second.front().text;
    } else if (is_name) {
      if (!variables.doubts.contains(word)) unset = word;
      return std::nullopt;
    }
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

bool is_digit_at(std::string_view text, std::size_t at) {
  return at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0;
}

/// Whether what stands between brackets begins as people name what is to be filled in: by a letter, or by a number that
/// letters follow and further words ("7B model"). "<2>log" and "<2in" are redirections.
bool begins_placeholder(std::string_view inside) {
  const auto is_letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  if (!is_digit_at(inside, 0)) return is_letter(inside.front()) || inside.front() == '.' || inside.front() == '_';
  const std::string_view first = inside.substr(0, inside.find(' '));
  return first.size() < inside.size() && std::ranges::any_of(first, is_letter);
}

/// Of "<path to the data>" in front: a word, or several, between brackets, a tag ("</image>"), a path ("</path/to>") or
/// a choice ("<a|b>"). "<in >log", "<in 2>log" and "</dev/null>log" are redirections.
std::size_t placeholder_length(std::string_view text) {
  constexpr std::size_t kLongest = 200;
  text = text.substr(0, kLongest);
  const std::size_t end = text.find('>');
  if (end == text.npos || text[1] == '>') return 0;
  const std::string_view inside = text.substr(1, end - 1);
  const char behind = end + 1 < text.size() ? text[end + 1] : '\n';
  const bool ends_word = is_shell_blank(behind) || behind == '\n';
  const bool begins_as_path = inside.front() == '/' && inside.size() > 1;
  const bool is_closing_tag = begins_as_path && std::ranges::all_of(inside.substr(1), is_shell_name);
  const bool is_path = begins_as_path && !inside.starts_with("/dev/") && (ends_word || behind == '/');
  if (!begins_placeholder(inside) && !is_closing_tag && !is_path) return 0;
  if (inside.find_first_of("\n\"'`\\$;&<()") != inside.npos || is_shell_blank(inside.back())) return 0;
  if (inside.find('|') != inside.npos && (!ends_word || inside.find(' ') != inside.npos || inside.back() == '|'))
    return 0;
  const std::string_view last = inside.substr(inside.rfind(' ') + 1);
  if (last.size() < inside.size() && last.find_first_not_of("0123456789") == last.npos) return 0;
  return behind == '>' || behind == '&' || behind == '|' || behind == '(' ? 0 : end + 1;
}

/// Of "([0]*3+[1]*45)" in front, as Megatron-LM takes it.
std::size_t list_length(std::string_view text) {
  if (text.size() < 3 || std::isdigit(static_cast<unsigned char>(text[2])) == 0) return 0;
  const std::size_t end = text.find_first_not_of("([]0123456789,*+ ");
  return end != text.npos && text[end] == ')' ? end + 1 : 0;
}

/// Where what stands at `from` ends: one character, or "$(command)", "${NAME...}" and "`command`" that are left as they
/// are written, because it is not known what they give, and so is "<path>".
std::size_t end_of_piece(std::string_view text, std::size_t from) {
  if (text[from] == '`') {
    const std::size_t end = text.find('`', from + 1);
    return end == text.npos ? from + 1 : end + 1;
  }
  if (text[from] == '<') return from + std::max<std::size_t>(placeholder_length(text.substr(from)), 1);
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
  const char c = cursor_.text[cursor_.at++];
  if (c == '\n') {
    ++cursor_.line;
    cursor_.line_begin = cursor_.at;
  }
  return c;
}

std::string_view ShellText::next_line() {
  const std::size_t from = cursor_.at, end = std::min(cursor_.text.find('\n', from), cursor_.text.size());
  while (cursor_.at < std::min(end + 1, cursor_.text.size())) next();
  std::string_view line = cursor_.text.substr(from, end - from);
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

std::size_t ShellText::bare_value_length() const {
  const std::string_view rest = cursor_.text.substr(cursor_.at);
  return rest.starts_with('<') ? placeholder_length(rest) : rest.starts_with("([") ? list_length(rest) : 0;
}

void ShellText::check_size(std::size_t beside, const ShellVariables& variables, const Place& place) {
  written_ = 0;
  std::size_t all = beside;
  for (const auto& [name, values] : variables.known) all += characters(values);
  if (all > kMostText)
    throw InputError(language::text(place), "found variables that hold more than a million characters");
  if (++counts_ > kMostCounts)
    throw InputError(language::text(place), "found commands that write more than 100 million characters");
}

std::optional<ShellAssignment> ShellText::read_assignment(const ShellVariables& variables) {
  std::size_t end = cursor_.at;
  while (end < cursor_.text.size() && is_shell_name(cursor_.text[end])) ++end;
  const bool adds = end + 1 < cursor_.text.size() && cursor_.text[end] == '+' && cursor_.text[end + 1] == '=';
  if (end == cursor_.at || end >= cursor_.text.size() || !(adds || cursor_.text[end] == '=')) return std::nullopt;
  ShellAssignment out{.name = std::string(cursor_.text.substr(cursor_.at, end - cursor_.at)), .adds = adds};
  cursor_.at = end + (adds ? 2 : 1);
  if (peek() == '(') {
    out.is_array = true;
    const Place begin = here();
    next();
    while (skip_lines(), peek() != ')') {
      if (ended()) throw InputError(language::text(begin), "found an array that does not end, expected )");
      const std::size_t before = cursor_.at;
      std::ranges::move(read_word(variables), std::back_inserter(out.values));
      if (cursor_.at == before) next();  // a character that is of no word
    }
    next();
  } else {
    ShellWord whole{.text = {}, .place = here()};
    const bool is_empty = ended() || is_shell_blank(peek()) || peek() == '\n' || peek() == ';';
    for (const ShellWord& part : is_empty ? ShellWords{} : read_word(variables)) {
      whole.text += (whole.text.empty() ? "" : " ") + part.text;
      if (!part.doubt.empty()) whole.doubt = part.doubt;
      if (!part.unset.empty()) whole.unset = part.unset;
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
    if (written_ > kMostText) check_size(characters(words) + open->text.size(), variables, place);
  };
  bool holds_empty_list = false;  // "$@" of no arguments is no word, though it stands in quotes
  const auto add_split = [&](const ShellWords& values, const Place& place, bool quoted) {
    holds_empty_list |= quoted && values.empty();
    for (const ShellWord& value : values) {
      if (&value != &values.front() && open) words.push_back(*std::exchange(open, std::nullopt));
      if (quoted) {
        add(value.text, values.size() > 1 ? value.place : place);
        if (!value.doubt.empty()) open->doubt = value.doubt;
        if (!value.unset.empty()) open->unset = value.unset;
        continue;
      }
      for (std::size_t i = 0; i < value.text.size();) {
        const std::size_t end = end_of_word(value.text, i);
        const std::string_view piece = std::string_view(value.text).substr(i, end - i);
        if (!piece.empty()) add(piece, values.size() > 1 ? value.place : place);
        // What is not known of the text stands in it as it is written.
        const bool is_known = piece.find_first_of("$`") == piece.npos;
        if (!is_known && !value.doubt.empty()) open->doubt = value.doubt;
        if (!is_known && !value.unset.empty()) open->unset = value.unset;
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
      const std::size_t end = cursor_.text.find('\'', cursor_.at);
      if (end == cursor_.text.npos)
        throw InputError(language::text(place), "found a quote that does not end, expected '");
      const std::size_t from = cursor_.at;
      while (cursor_.at < end) next();
      add(cursor_.text.substr(from, end - from), place);
      next();
    } else if (c == '\\' && cursor_.at + 1 < cursor_.text.size()) {
      next();
      const char escaped = next();
      // Inside of double quotes the others stay what they are, and the backslash with them.
      const bool is_escape = !in_quotes_now || std::string_view("$`\"\\\n").find(escaped) != std::string_view::npos;
      if (escaped != '\n') add(is_escape ? std::string(1, escaped) : std::string{'\\', escaped}, place);
      if (escaped == '\n' && !in_quotes_now) break;
    } else if (c == '$') {
      add_split(read_dollar(variables, in_quotes_now), place, in_quotes_now);
    } else if (c == '`') {
      const std::size_t from = cursor_.at, end = end_of_piece(cursor_.text, from);
      while (cursor_.at < end) next();
      add(cursor_.text.substr(from, end - from), place);
    } else if (const std::size_t length = in_quotes_now ? 0 : bare_value_length(); length > 0) {
      add(cursor_.text.substr(cursor_.at, length), place);
      cursor_.at += length;
    } else if (!in_quotes_now &&
               (is_shell_blank(c) || std::string_view("\n;&|()<>").find(c) != std::string_view::npos)) {
      break;
    } else {
      add(std::string(1, next()), place);
    }
  }
  if (in_quotes_now) throw InputError(language::text(begin), "found a quote that does not end, expected \"");
  if (open && !(holds_empty_list && open->text.empty())) words.push_back(*open);
  return words;
}

/// "$((A * B))", behind its dollar sign, or "$(command)", which stays as it is written.
ShellWords ShellText::read_sum(const ShellVariables& variables) {
  const std::size_t begin = cursor_.at - 1;
  Place place = here();
  --place.column;
  int depth = 0;
  while (!ended()) {
    const char c = next();
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (depth == 0) break;
  }
  const std::string_view whole = cursor_.text.substr(begin, cursor_.at - begin);
  ShellWord word{.text = std::string(whole), .place = std::move(place)};
  if (whole.starts_with("$((") && whole.ends_with("))"))
    if (const auto value = sum(whole.substr(3, whole.size() - 5), variables, word.unset)) {
      word.text = std::to_string(*value);
      word.unset.clear();
    }
  return {std::move(word)};
}

/// The default of "${NAME:-default}", in which variables may stand.
ShellWords ShellText::read_default(const std::string& text, const Place& place, const ShellVariables& variables) {
  const std::string in_quotes = '"' + text + '"';
  ShellWords words = ShellText(in_quotes, *cursor_.file, depth_ + 1).read_word(variables);
  for (ShellWord& word : words) word.place = place;
  return words;
}

/// "${NAME#pattern}", "##", "%" and "%%" of what a variable holds; nothing where that is not known.
std::optional<std::string> ShellText::read_removal(const std::string& text, const std::string& operation,
                                                   const std::string& pattern, const ShellVariables& variables) {
  const bool longest = pattern.starts_with(operation);
  const std::string written = pattern.substr(longest ? 1 : 0);
  if (written.find_first_of("`\\") != written.npos || written.find("$(") != written.npos || depth_ == kMostDefaults)
    return std::nullopt;
  const ShellWords read = read_default(written, here(), variables);
  if (read.size() != 1) return std::nullopt;
  return without_fitting(text, read.front().text, operation == "#" ? PatternEnd::front : PatternEnd::back, longest);
}

ShellWords ShellText::read_dollar(const ShellVariables& variables, bool quoted) {
  const Place place = here();
  const std::size_t begin = cursor_.at;
  next();
  if (peek() == '(') return read_sum(variables);
  std::string name, operation, fallback;
  bool is_list = false;
  if (peek() == '{') {
    std::size_t end = end_of_piece(cursor_.text, begin) - 1;
    if (end == begin) end = cursor_.text.find('}', cursor_.at);
    if (end == cursor_.text.npos) throw InputError(language::text(place), "found ${ that does not end, expected }");
    const std::string_view inside = cursor_.text.substr(cursor_.at + 1, end - cursor_.at - 1);
    while (cursor_.at <= end) next();
    std::size_t length = static_cast<std::size_t>(std::ranges::find_if_not(inside, is_shell_name) - inside.begin());
    if (length == 0 && inside.size() == 1 && std::string_view("@*#").find(inside) != inside.npos) length = 1;
    name = inside.substr(0, length);
    const std::string_view rest = inside.substr(length);
    is_list = rest == "[@]" || rest == "[*]";
    if (!is_list && !rest.empty()) {
      operation = rest.substr(0, rest.starts_with(':') ? 2 : 1);
      fallback = rest.substr(operation.size());
      std::erase(fallback, '"');
    }
  } else if (peek() >= '0' && peek() <= '9') {
    name = next();  // "$10" is "${1}0"
  } else {
    if (std::string_view("@#*").find(peek()) != std::string_view::npos)
      name = next();  // the words that it is called with, and how many
    else
      while (!ended() && is_shell_name(peek())) name += next();
  }
  const bool joins = name == "*";
  if (joins) name = "@";
  const auto known = variables.known.find(name);
  const auto as_written = [&]() -> ShellWords {
    const bool is_number = name == "@" || name == "#";
    const bool is_known = known != variables.known.end();
    return {{.text = std::string(cursor_.text.substr(begin, cursor_.at - begin)),
             .place = place,
             .unset = is_number || (is_known && known->second.empty()) ? ""
                      : is_known                                       ? known->second.front().unset
                                                                       : name}};
  };
  const bool has_default = operation == "-" || operation == ":-" || operation == "=" || operation == ":=";
  const bool asks = operation == "?" || operation == ":?";
  const bool removes = operation == "#" || operation == "%";
  if (!operation.empty() && !has_default && !asks && !removes) return as_written();
  if (const auto doubt = variables.doubts.find(name); doubt != variables.doubts.end()) {
    ShellWords words = as_written();
    words.front().doubt = doubt->second;
    words.front().unset.clear();
    return words;
  }
  if (removes) {
    const bool one_text = known != variables.known.end() && known->second.size() == 1;
    const auto left =
        one_text ? read_removal(known->second.front().text, operation, fallback, variables) : std::nullopt;
    return left ? ShellWords{{.text = *left, .place = place}} : as_written();
  }
  const bool is_empty = known != variables.known.end() && (known->second.empty() || known->second.front().text.empty());
  if (known != variables.known.end() && !(operation.starts_with(':') && is_empty)) {
    ShellWords words = known->second;
    const bool one_text = joins || !(is_list || name == "@" || variables.arrays.contains(name));
    if (!(quoted && one_text)) return words;
    ShellWord whole{.text = {}, .place = place};
    for (const ShellWord& word : words) {
      whole.text += (joins && &word != &words.front() ? " " : "") + word.text;
      if (!word.doubt.empty()) whole.doubt = word.doubt;
      if (!word.unset.empty()) whole.unset = word.unset;
    }
    return {std::move(whole)};
  }
  const bool runs_command = fallback.find_first_of("`\\") != fallback.npos || fallback.find("$(") != fallback.npos;
  if (!has_default || runs_command || depth_ == kMostDefaults) return as_written();
  return read_default(fallback, place, variables);
}

}  // namespace stepcast::language
