#pragma once

#include <span>

#include "language/question.h"

namespace stepcast::app {

/// Says on standard error, in a line for each kind of doubt, which measured figures of the runs are hard to believe.
/// Throws InputError at one that is impossible. Requires runs that can be forecast.
void tell_doubts(std::span<const language::Question> runs);

}  // namespace stepcast::app
