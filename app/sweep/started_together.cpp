#include "app/sweep/started_together.h"

#include <stdexcept>

#include "app/modules/module.h"
#include "app/modules/mpi_launcher.h"
#include "sim/input_error.h"

namespace stepcast::app {

std::unique_ptr<Processes> processes_started_together() {
  if (!is_launched_with_others()) return nullptr;
  std::string error;
  void* const function = function_of_module("stepcast-mpi", "stepcast_begin_mpi", error);
  if (function == nullptr)
    throw InputError("stepcast sweep",
                     "found several processes that MPI's launcher started, and the part of stepcast that speaks MPI "
                     "cannot be loaded (" +
                         error + "), expected one process, or --shard I/N for each");
  std::unique_ptr<Processes> processes(reinterpret_cast<decltype(&stepcast_begin_mpi)>(function)(error));
  if (!error.empty()) throw std::runtime_error(error);
  return processes;
}

}  // namespace stepcast::app
