#pragma once

#include <string>

#include "language/chakra/traced_program.h"

namespace stepcast::language {

/// Traces that stepcast wrote, with their details: the program that was written, exactly.
TracedProgram program_of_own(const CheckedTraces& traces, const std::string& details, const std::string& file);

}  // namespace stepcast::language
