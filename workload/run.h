#pragma once

#include "sim/executor.h"
#include "workload/flows.h"
#include "workload/program.h"

namespace stepcast::workload {

/// Runs a program on the machine that its communications were timed on: all its traffic meets on the links that it
/// crosses. The timeline tells of each of the program's tasks by its number. A second program that runs beside it on
/// the same links would have its communications in the same list and its tasks in the same graph. Throws
/// std::logic_error that names the link where one has carried other than what was handed to it.
sim::Timeline run(const Program& program, const Flows& flows);

}  // namespace stepcast::workload
