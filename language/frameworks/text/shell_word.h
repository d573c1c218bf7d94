#pragma once

#include <string>

#include "language/core/tree.h"

namespace stepcast::language {

/// A word of a command.
struct ShellWord {
  std::string text;
  Place place{};
  std::string doubt{};  ///< why it is not known what a variable in it holds; empty: it is known, or nothing sets it
  std::string unset{};  ///< the variable or the argument ("3") in it that nothing sets; empty: none
};

}  // namespace stepcast::language
