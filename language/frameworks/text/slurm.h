#pragma once

#include <map>
#include <string>
#include <string_view>

#include "language/frameworks/text/statement.h"

namespace stepcast::language {

/// Variables that Slurm gives a batch script, of what its "#SBATCH" lines ask for: SLURM_NNODES, SLURM_GPUS_PER_NODE,
/// ... Ranges of nodes ("2-4") and counts that are no numbers are left out.
std::map<std::string, std::string, std::less<>> slurm_variables(std::string_view script);

/// Says nodes and GPUs of each as "--nodes" and "--gpus-per-node" where Slurm alone starts the ranks: what "#SBATCH"
/// lines or srun's own flags say counts where no flag of another launcher does.
void add_slurm_sizes(std::string_view script, const std::string& file, Statements& flags);

}  // namespace stepcast::language
