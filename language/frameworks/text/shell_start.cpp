#include "language/frameworks/text/shell_start.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "sim/in_quotes.h"
#include "sim/input_error.h"
#include "sim/shell_quoted.h"

namespace stepcast::language {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_variable_name(std::string_view name) {
  return !name.empty() && !is_digit(name.front()) &&
         std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

/// Whether "$1", "${10}", "$@", "$#", "$*" or "shift" stands in a script.
bool reads_arguments(std::string_view script) {
  if (script.find("shift") != script.npos) return true;
  for (std::size_t at = script.find('$'); at < script.size(); at = script.find('$', at + 1)) {
    const std::string_view rest = script.substr(at + 1, 2);
    const std::string_view name = rest.substr(rest.starts_with('{') ? 1 : 0);
    if (!name.empty() && ((is_digit(name[0]) && name[0] != '0') || std::string_view("@*#").find(name[0]) != name.npos))
      return true;
  }
  return false;
}

}  // namespace

std::map<std::string, std::string, std::less<>> environment_of(std::span<const std::string> words) {
  std::map<std::string, std::string, std::less<>> out;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == word.npos || !is_variable_name(std::string_view(word).substr(0, equals)))
      throw InputError("--env", "found " + in_quotes(word) + ", expected NAME=VALUE, or NAME= for an empty value");
    const auto [variable, is_new] = out.try_emplace(word.substr(0, equals), word.substr(equals + 1));
    if (!is_new && variable->second != word.substr(equals + 1))
      throw InputError("--env", "found " + in_quotes(word) + " beside " +
                                    in_quotes(variable->first + "=" + variable->second) + ", expected one of the two");
  }
  return out;
}

void check_start(const ShellStart& start, std::string_view script, const std::string& file) {
  for (const auto& [name, value] : start.environment)
    if (script.find(name) == script.npos)
      throw InputError("--env", "found " + in_quotes(name + "=" + value) + ", but " + file + " does not name " +
                                    in_quotes(name) + "; expected a variable that it reads");
  if (!start.arguments.empty() && !reads_arguments(script))
    throw InputError(file, "found " + in_quotes(start.arguments.front()) +
                               " behind --, but the script reads no argument ($1, \"$@\"); expected none");
}

void refuse_start(const ShellStart& start, const std::string& file) {
  if (!start.environment.empty())
    throw InputError("--env", "found beside " + file + ", which is no shell script; expected it left out");
  if (!start.arguments.empty())
    throw InputError(file, "found " + in_quotes(start.arguments.front()) +
                               " behind --, but the file is no shell script, which has arguments; expected none");
}

std::string command_text(const ShellStart& start, const std::string& file) {
  if (start.environment.empty() && start.arguments.empty()) return "";
  std::string out;
  for (const auto& [name, value] : start.environment)
    out += name + "=" + (value.empty() ? "" : shell_quoted(value)) + " ";
  out += "bash " + shell_quoted(file);
  for (const std::string& argument : start.arguments) out += " " + shell_quoted(argument);
  return out;
}

bool may_hold_flags(const ShellWord& word, bool is_value) {
  const std::string_view name = word.unset, text = word.text;
  if (name.empty() || is_digit(name.front())) return false;
  const bool is_list = text.ends_with("[@]}") || text.ends_with("[*]}");
  const std::string braced = "${" + word.unset + "}";
  if (!is_list && text != braced && text != "$" + word.unset) return false;
  return is_list || !is_value || std::ranges::any_of(std::array{"ARGS", "FLAGS", "OPTS", "OPTIONS"}, [&](auto end) {
           return name.ends_with(end);
         });
}

std::string unset_note(const ShellWord& word) {
  return "Nothing sets " + word.unset + ", so flags that " + in_quotes(word.text) + " (" + language::text(word.place) +
         ") may hold are not read; --env " + word.unset + "=VALUE says which.";
}

std::string because_of(std::string_view variable) {
  if (variable.empty() || variable == "0") return "";
  if (is_digit(variable.front()))
    return " (argument " + std::string(variable) +
           " of the script is not known: give its arguments at the end of the line, behind --)";
  const std::string name(variable);
  return " (what " + name + " holds is not known: give --env " + name + "=VALUE, or --env " + name +
         "= where it is empty)";
}

}  // namespace stepcast::language
