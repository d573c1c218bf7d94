#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "language/frameworks/text/shell_word.h"
#include "language/frameworks/text/statement.h"

namespace stepcast::language {

/// Variables that Slurm gives a batch script, of what its "#SBATCH" lines ask for: SLURM_NNODES, SLURM_GPUS_PER_NODE,
/// SLURM_NTASKS, ... What is no number there ("2-4") is left out.
std::map<std::string, std::string, std::less<>> slurm_variables(std::string_view script);

/// The long name of a short option of srun or mpirun that says how many nodes or ranks, among the `before` words in
/// front of it: "--nodes" or "--ntasks", and what stands behind its letters ("2" of "-N2"); an empty name: it is none.
struct ShortSize {
  std::string_view name, value;
};
ShortSize short_size(std::string_view word, std::span<const ShellWord> before);

/// Says nodes and GPUs of each as "--nodes" and "--gpus-per-node" where no other launcher's flags do: srun's or
/// mpirun's own flags, or else what the "#SBATCH" lines ask for. A rank is taken to have a GPU of its own.
void add_slurm_sizes(std::string_view script, const std::string& file, Statements& flags);

}  // namespace stepcast::language
