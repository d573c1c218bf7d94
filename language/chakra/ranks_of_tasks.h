#pragma once

#include <vector>

#include "workload/recorded_program.h"

namespace stepcast::language {

/// By TaskId, the ranks whose trace a task stands in, in rising order, one at least. Kernels stand where their stream
/// is, a communication where its groups are. What stands on no stream (a delay, a moment that tasks of several ranks
/// wait for) is of the ranks of what it comes after, else of what comes after it.
std::vector<collectives::Group> ranks_of_tasks(const workload::RecordedProgram& recorded);

/// The ranks that take part in a communication. `unfolded`: in the groups that ask, else in all.
collectives::Group ranks_of(const workload::Communication& communication, bool unfolded);

}  // namespace stepcast::language
