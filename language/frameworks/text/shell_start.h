#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "language/frameworks/text/shell_word.h"

namespace stepcast::language {

/// What a script is started with: "NAME=VALUE bash SCRIPT ARGUMENT". Without arguments "$#" is 0; what nothing sets of
/// the environment is not known.
struct ShellStart {
  std::vector<std::string> arguments{};
  std::map<std::string, std::string, std::less<>> environment{};
};

/// Of words "NAME=VALUE". Throws InputError for others, and for a name with two values.
std::map<std::string, std::string, std::less<>> environment_of(std::span<const std::string> words);

/// Throws InputError where a script reads none of its arguments, or does not name a variable of its environment.
void check_start(const ShellStart& start, std::string_view script, const std::string& file);

/// Throws InputError where anything is given beside a file that is no script.
void refuse_start(const ShellStart& start, const std::string& file);

/// "NAME=VALUE bash FILE ARGUMENT", with quotes where a shell needs them; "" where nothing is given.
std::string command_text(const ShellStart& start, const std::string& file);

/// Whether nothing sets the variable that a word is, and flags may stand in it: it is an array, is named so, or stands
/// where no value is expected.
bool may_hold_flags(const ShellWord& word, bool is_value);

/// The sentence that says so of such a word.
std::string unset_note(const ShellWord& word);

/// " (what X holds is not known: give --env X=VALUE ...)" of a variable that nothing sets, or the same of an argument
/// ("3"); "" of no name.
std::string because_of(std::string_view variable);

}  // namespace stepcast::language
