#pragma once

namespace stepcast::app {

/// Whether a launcher of MPI programs started this one: what Open MPI's mpirun, those of MPICH and Intel MPI, and
/// Slurm's srun with PMIx tell the processes that they start.
bool is_launched_by_mpi();
/// The same, with others beside it.
bool is_launched_with_others();

}  // namespace stepcast::app
