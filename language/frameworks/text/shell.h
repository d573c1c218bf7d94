#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "language/frameworks/text/shell_start.h"
#include "language/frameworks/text/shell_word.h"

namespace stepcast::language {

/// A file that a script writes: "cat > ds.json <<EOT".
struct ShellDocument {
  std::string file, text;
  Place place{};
};

/// What a script runs, and the files that it writes for it.
struct ShellReading {
  std::vector<ShellWord> words;
  std::vector<ShellDocument> documents;
  std::vector<std::string> notes{};  ///< of files that it takes in ("source FILE") and that are not there
};

/// Whether a word is a flag: it begins with "--".
bool is_shell_flag(const std::string& word);

/// The command of a shell script, or of a command line, that has the most words that count: its words, with quotes
/// taken off and variables, arrays and sums of whole numbers put in ("${FLAGS[@]}", "${NODES:-4}", "$((A*B))"). What is
/// read is what runs where the script is started so ("$#" is 0 without arguments): of an `if` and a `case` the branch
/// that does, where their texts tell, else all of them; of a loop its first round; a function where it is called; what
/// a subshell or the assignment in front of a command gives a variable ends with it; redirections are passed over; of
/// "source FILE" the file is read where it stands beside the script. What cannot be known ("$1", "$(hostname)") stays
/// as it is written, and so does what has to be filled in ("<path>"). Throws InputError where a quote, an array, a
/// block or a here-document does not end, and where the script reads nothing of what it is started with.
std::vector<ShellWord> command_of(std::string_view text, const std::string& file, const ShellStart& start = {},
                                  bool (*counts)(const std::string&) = is_shell_flag);

/// The same, with the here-documents that the script writes to files.
ShellReading script_of(std::string_view text, const std::string& file, const ShellStart& start = {},
                       bool (*counts)(const std::string&) = is_shell_flag);

}  // namespace stepcast::language
