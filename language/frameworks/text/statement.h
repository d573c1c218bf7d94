#pragma once

#include <string>
#include <vector>

#include "language/core/tree.h"

namespace stepcast::language {

/// One thing that a configuration says: a flag with its values, or the value at a path of a file
/// ("tokens.train_steps").
struct Statement {
  std::string name;
  /// The value; several of a flag with spaces between them; of a list in a file as JSON writes it. A flag may have
  /// none.
  std::string text;
  std::string comment{};     ///< behind it; empty: none
  Place place{};             ///< where it was read
  std::string doubt{};       ///< why it is not known what a variable in the text holds; empty: it is known
  std::string unset{};       ///< the variable or the argument ("3") in the text that nothing sets; empty: none
  bool of_launcher = false;  ///< it stands in front of the program that a launcher starts, and is the launcher's
};

using Statements = std::vector<Statement>;

/// A configuration as it is read.
struct ReadStatements {
  Statements statements;
  std::vector<std::string> notes{};  ///< what of it could not be read, in whole sentences
};

}  // namespace stepcast::language
