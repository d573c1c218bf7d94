#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "language/frameworks/text/syntax.h"
#include "language/frameworks/words.h"

namespace stepcast::language {

/// One text of a key as a scenario has it and as a framework has it.
struct Spelling {
  std::string_view ours, theirs;
  bool only_read = false;  ///< of a fork of the framework, or of a release before: it is not written
};

/// A flag, or a key of a file, and the word that it stands for. Writing and reading both walk these.
struct FlagRow {
  std::string_view name;     ///< as the framework calls it
  std::string_view key;      ///< of a scenario, or a name of the framework's own, '@...'
  std::string_view usual{};  ///< the word's text where the framework is not told; empty: there is no word then
  std::string_view
      present{};  ///< of a flag without a value: the word's text where the flag stands; else it has a value
  std::vector<Spelling> spellings{};  ///< empty: both have the same text. The first that fits counts.
  bool only_read = false;             ///< another way to say what another row writes
  std::string_view remark{};          ///< behind it where it is written; empty: the key
};

/// A key with the only text that the framework has for it, and why.
struct FixedKey {
  std::string_view key, text, why;
};

/// A flag that changes the answer and stands for nothing here, or a key that the framework has nothing for, and why.
struct RefusedName {
  std::string_view name, why;
  std::string_view harmless{};  ///< the text of the flag that changes nothing; empty: none
  std::string_view instead{};   ///< the key that `why` asks for: where --set gives it, the flag may stand; empty: none
  std::string_view equal_to{};  ///< a flag beside which it changes nothing where both have the same text; empty: none
};

/// What a launch is made of beside the words.
struct Launch {
  std::uint32_t nodes = 1, gpus_per_node = 1;
};

/// A training framework: how a plan is told to it.
struct Framework {
  std::string_view name;              ///< on stepcast's command line
  std::string_view title;             ///< as its authors call it
  std::string_view version;           ///< the repository and the commit that the names are of
  std::string_view software;          ///< the file of configs/software/ that an import assumes
  std::string_view other_software{};  ///< those that it assumes of some configurations, with blanks between them
  const Syntax& syntax;
  const std::vector<FlagRow>& (*rows)();
  std::vector<FixedKey> (*fixed)();
  std::vector<RefusedName> (*refused)();  ///< names of the framework's, and keys of scenarios
  /// Names that change no forecast, with blanks between them; with '*' behind, all that begin so.
  std::string_view ignored;
  /// Keys that its configuration does not hold, but the user's own script; with '*' behind, all that begin so.
  std::vector<FixedKey> (*elsewhere)();
  void (*spell)(Words&, const Framework&);  ///< turns words of a scenario into those of the rows. Throws InputError.
  void (*read)(Words&, const Framework&);   ///< the other way round
  std::vector<std::string> (*launch)(const Words&, const Launch&);  ///< lines; the last is the command
  Statements (*to_fill)();  ///< what the user has to put in, with an example or what stands for it
};

/// What the framework calls a word: the first of its rows; the word itself where it has none.
std::string name_in(const Framework& framework, std::string_view key);

}  // namespace stepcast::language
