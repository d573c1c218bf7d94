#include "language/frameworks/text/shell_arguments.h"

#include <utility>

namespace stepcast::language {
namespace {

bool is_of_arguments(std::string_view name) { return is_number(name) || name == "@" || name == "#"; }

void forget_arguments(ShellVariables& variables) {
  const auto is_argument = [](const auto& variable) { return is_of_arguments(variable.first); };
  std::erase_if(variables.known, is_argument);
  std::erase_if(variables.doubts, is_argument);
}

}  // namespace

bool is_number(std::string_view text) { return !text.empty() && text.find_first_not_of("0123456789") == text.npos; }

void set_arguments(ShellVariables& variables, std::vector<ShellWord> arguments) {
  forget_arguments(variables);
  for (std::size_t i = 0; i < arguments.size(); ++i) variables.known[std::to_string(i + 1)] = {arguments[i]};
  variables.known["#"] = {{.text = std::to_string(arguments.size())}};
  variables.known["@"] = std::move(arguments);
}

void give_back_arguments(ShellVariables& variables, const ShellVariables& before) {
  forget_arguments(variables);
  for (const auto& [name, values] : before.known)
    if (is_of_arguments(name)) variables.known[name] = values;
  for (const auto& [name, why] : before.doubts)
    if (is_of_arguments(name)) variables.doubts[name] = why;
}

std::vector<std::string> names_of_arguments(const ShellVariables& variables) {
  std::vector<std::string> names;
  for (const auto& [name, values] : variables.known)
    if (is_of_arguments(name)) names.push_back(name);
  return names;
}

}  // namespace stepcast::language
