#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "language/frameworks/text/shell_word.h"

namespace stepcast::language {

/// What a script's variables and arrays hold.
struct ShellVariables {
  std::map<std::string, std::vector<ShellWord>, std::less<>> known;
  std::map<std::string, std::string, std::less<>> doubts;  ///< of what may hold one thing or another: why
  std::set<std::string, std::less<>> arrays;  ///< of those known: the rest hold one text, in pieces where += adds to it
};

/// NAME=value, NAME=(values), and the same with += .
struct ShellAssignment {
  std::string name;
  std::vector<ShellWord> values{};
  bool adds = false;
  bool is_array = false;
};

/// Where a script is read, or a file that it takes in. The text and its name live as long as this.
struct ScriptPosition {
  std::string_view text{};
  const std::string* file = nullptr;
  std::size_t at = 0, line_begin = 0;
  std::uint32_t line = 1;
};

/// The characters of a script, read one after another, and the words that they make with its variables put in.
class ShellText {
 public:
  /// `depth`: how many texts it stands inside of, as the default of a variable does.
  ShellText(std::string_view text, const std::string& file, int depth = 0)
      : depth_(depth), cursor_{.text = text, .file = &file} {}

  const ScriptPosition& cursor() const { return cursor_; }
  void go_to(const ScriptPosition& cursor) { cursor_ = cursor; }
  bool ended() const { return cursor_.at >= cursor_.text.size(); }
  Place here() const {
    return {*cursor_.file, cursor_.line, static_cast<std::uint32_t>(cursor_.at - cursor_.line_begin + 1)};
  }
  char peek(std::size_t ahead = 0) const {
    return cursor_.at + ahead < cursor_.text.size() ? cursor_.text[cursor_.at + ahead] : '\0';
  }
  char next();
  /// What is left of the line, its end passed over.
  std::string_view next_line();
  /// Passes over blanks, continued lines and comments.
  void skip_blanks();
  /// The same, and over line ends.
  void skip_lines();
  /// Whether what stands here is no shell's, but the value of a flag that somebody has yet to fill in
  /// ("<path to the data>") or to put into quotes ("([0]*3+[1]*45)").
  bool is_at_bare_value() const { return bare_value_length() > 0; }

  /// One word of the text, which variables make several of, or none.
  std::vector<ShellWord> read_word(const ShellVariables& variables);
  /// Nothing, and nothing read, where no assignment stands here.
  std::optional<ShellAssignment> read_assignment(const ShellVariables& variables);

 private:
  std::size_t bare_value_length() const;
  /// Throws InputError where variables hold each other too often. `beside`: characters of the words that are read.
  void check_size(std::size_t beside, const ShellVariables& variables, const Place& place);
  /// What stands behind a dollar sign, put in; inside of quotes one word, but of "$@" and "${ARRAY[@]}".
  std::vector<ShellWord> read_dollar(const ShellVariables& variables, bool quoted);
  std::optional<std::string> read_removal(const std::string& text, const std::string& operation,
                                          const std::string& pattern, const ShellVariables& variables);
  std::vector<ShellWord> read_sum(const ShellVariables& variables);
  std::vector<ShellWord> read_default(const std::string& text, const Place& place, const ShellVariables& variables);

  int depth_;
  ScriptPosition cursor_;
  std::size_t written_ = 0;  ///< characters of words since what exists was counted
  int counts_ = 0;           ///< how often it was
};

bool is_shell_name(char c);
bool is_shell_blank(char c);

}  // namespace stepcast::language
