#pragma once

#include <vector>

#include "language/chakra/traces.h"
#include "workload/recorded_program.h"

namespace stepcast::language {

/// A program that was read from traces, and the nodes of each of its tasks: of what several ranks do together each has
/// one, or more.
struct TracedProgram {
  workload::RecordedProgram recorded{};
  std::vector<std::vector<NodePlace>> tasks{};  ///< by TaskId, none empty
};

}  // namespace stepcast::language
