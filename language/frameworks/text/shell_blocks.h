#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "language/core/tree.h"
#include "language/frameworks/text/condition.h"
#include "language/frameworks/text/shell_text.h"

namespace stepcast::language {

/// Commands between a word that opens them and one that closes them.
struct ShellBlock {
  enum class Kind : std::uint8_t { branches, choice, loop, group, subshell, definition, call, file };
  Kind kind;
  std::string opened_by;
  Place place{};
  Truth reached = Truth::yes;  ///< whether it is read at all: what stands in front of it in its list
  std::string decided_by{};    ///< the variable that nothing sets, where that is why it is not known whether it runs
  Truth runs = Truth::yes;     ///< of what is read now of it
  Truth taken = Truth::no;     ///< of branches and a choice: whether an earlier branch runs
  std::string subject{};       ///< of a choice: the text that is compared; of a definition: its function
  ShellVariables before{};     ///< of a loop and a subshell
  std::set<std::string, std::less<>> changed{};  ///< of a loop: variables that it gives something
  ScriptPosition begin{};                        ///< of a while loop: its test
  bool shifts = false;                           ///< of a loop: this round took arguments away
  bool is_followed = false;                      ///< of a loop: its rounds are read until its test says no
  bool is_left = false;                          ///< of a loop: by "break"
};

/// The blocks that are open where a script is read, the outermost first, and whether what is read there runs.
class ShellBlocks {
 public:
  using Kind = ShellBlock::Kind;

  bool empty() const { return open_.empty(); }
  std::size_t size() const { return open_.size(); }
  ShellBlock& back() { return open_.back(); }
  const ShellBlock& back() const { return open_.back(); }
  bool in(Kind kind) const { return !open_.empty() && open_.back().kind == kind; }

  /// Throws InputError where more than 200 are open.
  ShellBlock& open(Kind kind, std::string opened_by, Place place);
  ShellBlock close();

  /// "break": the rest of the loop does not run.
  void leave_loop();
  /// "return": the rest of the function or the file that is taken in does not run; or it may not, where it is not known
  /// whether what returns runs.
  void leave_call();
  /// "shift" took arguments away from all that have the same.
  void note_shift();
  void note_change(const std::string& variable);

  /// Whether what is read now runs, as far as it is known.
  bool runs() const;
  /// Whether it is not known that what is read now runs.
  bool may_run() const;
  /// The variable that would say whether what is read now runs, where that is not known; "": there is none.
  std::string decided_by() const;

  /// What the list has come to of which a command was just read.
  Truth last() const { return last_; }
  const std::string& last_decided_by() const { return last_decided_by_; }
  /// A command was read that `connector` ends. `holds`: whether it does; `unset`: the variable that nothing sets in it.
  void follow(bool has_words, Truth holds, std::string unset, std::string_view connector);

 private:
  std::vector<ShellBlock> open_;
  Truth next_ = Truth::yes;  ///< whether what is read now runs, by what stands in front of it in its list
  Truth last_ = Truth::yes;
  std::string last_decided_by_;
};

}  // namespace stepcast::language
