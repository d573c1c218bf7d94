#pragma once

#include <cstddef>
#include <string_view>

#include "language/core/type.h"

namespace stepcast::language {

/// The words that stand for an enumeration's values, in the order of the enumeration. `last` is its last value: a list
/// that has a word too few or too many does not compile.
template <auto last, std::size_t count>
Names names_of(const std::string_view (&words)[count]) {
  static_assert(count == static_cast<std::size_t>(last) + 1, "each value of the enumeration has one word");
  return {words, words + count};
}

}  // namespace stepcast::language
