#include "language/frameworks/text/flags.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "language/frameworks/text/sections.h"
#include "language/frameworks/text/shell.h"
#include "language/frameworks/text/syntax.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::language {
namespace {

// What starts a program on GPUs and has flags of its own. Not accelerate's, which say how to train.
constexpr std::array<std::string_view, 10> kLaunchers{"torchrun",
                                                      "deepspeed",
                                                      "srun",
                                                      "mpirun",
                                                      "mpiexec",
                                                      "python",
                                                      "python3",
                                                      "nsys",
                                                      "torch.distributed.run",
                                                      "torch.distributed.launch"};

/// How many of the words stand in front of a program that a launcher starts.
std::ptrdiff_t words_of_launcher(std::span<const ShellWord> words) {
  const auto program = std::ranges::find_if(words, [](const ShellWord& word) { return word.text.ends_with(".py"); });
  if (program == words.end()) return 0;
  bool launches = false;
  for (const ShellWord& word : words.first(static_cast<std::size_t>(program - words.begin()))) {
    const std::string_view name = std::string_view(word.text).substr(word.text.rfind('/') + 1);
    if (name == "accelerate") return 0;
    launches |= std::ranges::find(kLaunchers, name) != kLaunchers.end();
  }
  return launches ? program - words.begin() : 0;
}

}  // namespace

Statements flags_of(std::span<const ShellWord> words, const std::string& file) {
  Statements out;
  bool takes_values = false;
  const std::ptrdiff_t of_launcher = words_of_launcher(words);
  for (const ShellWord& word : words) {
    if (word.text.starts_with("--") && word.text.size() > 2) {
      const std::size_t equals = std::min(word.text.find('='), word.text.size());
      out.push_back({.name = word.text.substr(0, equals), .text = {}, .place = word.place});
      takes_values = true;
      if (equals < word.text.size()) out.back().text = word.text.substr(equals + 1);
      out.back().doubt = word.doubt;
      out.back().of_launcher = &word - words.data() < of_launcher;
    } else if (word.text.ends_with(".py")) {
      takes_values = false;  // the program that the flags behind it are of
    } else if (!word.doubt.empty() &&
               (word.text.ends_with("[@]}") || (takes_values ? !out.back().text.empty() : !out.empty()))) {
      throw InputError(language::text(word.place),
                       "found " + in_quotes(word.text) + ", which " + word.doubt + "; expected its flags");
    } else if (takes_values) {
      if (!word.doubt.empty()) out.back().doubt = word.doubt;
      out.back().text += (out.back().text.empty() ? "" : " ") + word.text;
    }
  }
  if (out.empty()) throw InputError(file, "found no flags, expected a command with flags such as --num-layers 32");
  return out;
}

namespace {

Statements read_flags(std::string_view text, const std::string& file) { return flags_of(command_of(text, file), file); }

std::string write_flags(const std::vector<std::string>& heading, const Statements& statements) {
  std::string out = "#!/usr/bin/env bash\n" + comment_lines(heading, "#") + "FLAGS=(\n";
  std::string command;
  for (const Statement& each : statements) {
    if (each.name.empty()) {
      command = each.text;
      continue;
    }
    const bool quotes = each.text.find_first_of("()*|[]'") != each.text.npos;
    std::string line = "  " + each.name + (each.text.empty() ? "" : quotes ? " \"" + each.text + '"' : " " + each.text);
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
