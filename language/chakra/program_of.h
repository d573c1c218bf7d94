#pragma once

#include <span>

#include "language/chakra/traced_program.h"

namespace stepcast::language {

/// What traces say that stepcast wrote where their details are there, else what any tool's traces say. Throws
/// InputError with the file, the node and the attribute.
TracedProgram program_of(const Traces& traces);

/// The error of tasks that wait for each other in a circle, as sim::CyclicTasks lists them.
[[noreturn]] void throw_circle(const Traces& traces, const TracedProgram& program, std::span<const sim::TaskId> circle);

}  // namespace stepcast::language
