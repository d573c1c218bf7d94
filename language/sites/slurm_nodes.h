#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "language/sites/site.h"

namespace stepcast::language {

/// Reads what `scontrol show nodes` prints, with or without --oneliner: of each node its name, its GPUs (Gres) and
/// whether it is up (State). The other keys are passed over. Throws InputError with file:line:column for a text without
/// nodes, a node twice, and GPUs that cannot be counted.
std::vector<SiteNode> read_slurm_nodes(std::string_view text, const std::string& file);

}  // namespace stepcast::language
