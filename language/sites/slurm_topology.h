#pragma once

#include <string>
#include <string_view>

#include "language/sites/site.h"

namespace stepcast::language {

/// Reads Slurm's topology.conf, of the plugins topology/tree (SwitchName=) and topology/block (BlockName=). Throws
/// InputError with file:line:column for an unknown key, a switch or a node named twice where it may not be, a switch
/// that is named and not there, and switches inside each other.
Site read_slurm_topology(std::string_view text, const std::string& file);

}  // namespace stepcast::language
