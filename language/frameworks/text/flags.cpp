#include "language/frameworks/text/flags.h"

#include <algorithm>
#include <cstddef>

#include "language/frameworks/text/launcher_words.h"
#include "language/frameworks/text/sections.h"
#include "language/frameworks/text/shell.h"
#include "language/frameworks/text/slurm.h"
#include "language/frameworks/text/syntax.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"
#include "sim/shell_quoted.h"

namespace stepcast::language {
namespace {

/// A flag's value, quoted where a shell would see more in it and nobody has quoted it. What has blanks is several
/// words.
std::string in_shell_quotes(const std::string& text) {
  if (text.starts_with('"')) return text;
  if (text.find('"') != text.npos) return shell_quoted(text);
  return text.find_first_of("()*|[]'") == text.npos ? text : '"' + text + '"';
}

}  // namespace

ReadStatements flags_of(std::span<const ShellWord> words, const std::string& file) {
  Statements out;
  std::vector<std::string> notes;
  bool takes_values = false;
  const std::size_t of_launcher = words_of_launcher(words);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const ShellWord& word = words[i];
    // A launcher's flags have one value each: what comes next is a program.
    if (may_hold_flags(word, takes_values && out.back().text.empty())) notes.push_back(unset_note(word));
    const bool has_its_value = takes_values && i < of_launcher && word.doubt.empty() && !out.back().text.empty();
    if (word.text.starts_with("--") && word.text.size() > 2) {
      const std::size_t equals = std::min(word.text.find('='), word.text.size());
      out.push_back({.name = word.text.substr(0, equals), .text = {}, .place = word.place});
      takes_values = true;
      if (equals < word.text.size()) out.back().text = word.text.substr(equals + 1);
      out.back().doubt = word.doubt;
      out.back().unset = word.unset;
      out.back().of_launcher = i < of_launcher;
    } else if (const ShortSize size = i < of_launcher ? short_size(word.text, words.first(i)) : ShortSize{};
               !size.name.empty()) {
      out.push_back({.name = std::string(size.name), .text = std::string(size.value), .place = word.place});
      out.back().of_launcher = takes_values = true;
    } else if (word.text.ends_with(".py") || (i <= of_launcher && is_short_option(word.text)) || has_its_value) {
      takes_values = false;  // the program that the flags behind it are of
    } else if (!word.doubt.empty() &&
               (word.text.ends_with("[@]}") || (takes_values ? !out.back().text.empty() : !out.empty()))) {
      throw InputError(language::text(word.place),
                       "found " + in_quotes(word.text) + ", which " + word.doubt + "; expected its flags");
    } else if (takes_values) {
      if (!word.doubt.empty()) out.back().doubt = word.doubt;
      if (!word.unset.empty()) out.back().unset = word.unset;
      out.back().text += (out.back().text.empty() ? "" : " ") + word.text;
    }
  }
  if (out.empty()) throw InputError(file, "found no flags, expected a command with flags such as --num-layers 32");
  return {std::move(out), std::move(notes)};
}

namespace {

ReadStatements read_flags(std::string_view text, const std::string& file, const ShellStart& start) {
  const ShellReading script = script_of(text, file, start);
  ReadStatements flags = flags_of(script.words, file);
  add_slurm_sizes(text, file, flags.statements);
  flags.notes.insert(flags.notes.begin(), script.notes.begin(), script.notes.end());
  return flags;
}

std::string write_flags(const std::vector<std::string>& heading, const Statements& statements) {
  std::string out = "#!/usr/bin/env bash\n" + comment_lines(heading, "#") + "FLAGS=(\n";
  std::string command;
  for (const Statement& each : statements) {
    if (each.name.empty()) {
      command = each.text;
      continue;
    }
    std::string line = "  " + each.name + (each.text.empty() ? "" : " " + in_shell_quotes(each.text));
    constexpr std::size_t kCommentsFrom = 52;
    if (!each.comment.empty())
      line += std::string(std::max(line.size() + 2, kCommentsFrom) - line.size(), ' ') + "# " + each.comment;
    out += line + "\n";
  }
  return out + ")\n" + command + " \"${FLAGS[@]}\"\n";
}

}  // namespace

constinit const Syntax flags_syntax{read_flags, write_flags, true};

}  // namespace stepcast::language
