#pragma once

#include <cstddef>
#include <string_view>

#include "language/core/type.h"

namespace stepcast::language {

/// Whether so many words are one for each value of an enumeration, of which `last` is the last.
template <auto last>
constexpr bool one_for_each(std::size_t words) {
  return words == static_cast<std::size_t>(last) + 1;
}

/// The words that stand for an enumeration's values, in the order of the enumeration. `last` is its last value: a list
/// that has a word too few or too many does not compile.
template <auto last, std::size_t count>
Names names_of(const std::string_view (&words)[count]) {
  static_assert(one_for_each<last>(count), "each value of the enumeration has one word");
  return {words, words + count};
}

/// The names of a table's entries, in its order.
template <class Entries>
Names names_in(const Entries& entries) {
  Names names;
  for (const auto& entry : entries) names.push_back(entry.name);
  return names;
}

}  // namespace stepcast::language
