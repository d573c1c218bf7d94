#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "language/core/library.h"

namespace stepcast::test {

/// What becomes of a scenario.
enum class Outcome : std::uint8_t {
  forecast,
  out_of_memory,
  refused,    ///< by a message that says where
  not_asked,  ///< right, but larger than Sizes allows
};

struct Result {
  Outcome outcome{};
  std::string why;  ///< it was refused, in the program's words
};

/// Scenarios that are forecast: all, or those whose forecast takes some milliseconds.
enum class Sizes : std::uint8_t { any, small };

/// Reads a scenario's text, checks it and forecasts it. Throws what the program would call an internal error: any
/// exception but an InputError that says where (and a time past what a Time holds, which forecasts may end in), and
/// std::logic_error for a forecast that contradicts itself: a part of a stage's time or memory below zero, parts that
/// do not add up to the step, a share that is no number.
Result outcome_of(std::string_view text, language::Library& library, Sizes sizes);

}  // namespace stepcast::test
