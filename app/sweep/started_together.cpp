#include "app/sweep/started_together.h"

#include <cstdlib>
#include <stdexcept>

#include "app/modules/module.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

/// Whether a launcher of MPI programs started this one: what Open MPI's mpirun, those of MPICH and Intel MPI, and
/// Slurm's srun with PMIx tell the processes that they start.
bool is_launched() {
  for (const char* const count : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    if (const char* const text = std::getenv(count)) return std::atoi(text) > 1;
  return std::getenv("PMIX_RANK") != nullptr;
}

}  // namespace

std::unique_ptr<Processes> processes_started_together() {
  if (!is_launched()) return nullptr;
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
