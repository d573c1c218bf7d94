#pragma once

#include <memory>

#include "app/mpi_module/processes.h"

namespace stepcast::app {

/// The processes that MPI's launcher started this one with; none: it was started alone. Throws InputError where it was
/// started with others and cannot speak with them, std::runtime_error where MPI fails.
std::unique_ptr<Processes> processes_started_together();

}  // namespace stepcast::app
