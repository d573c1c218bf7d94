#pragma once

#include <string>
#include <string_view>

#include "language/sites/site.h"

namespace stepcast::language {

/// Reads Slurm's topology.yaml (from 25.05 on): a list of topologies, each a tree of switches, blocks, or flat.
/// `chosen` is the one that is read; empty: the first that is the cluster's default, else the only one that is not
/// flat. Throws InputError with file:line:column as read_slurm_topology does, and where it is not clear which topology
/// is meant. Source: topology.yaml(5), slurm.schedmd.com/topology.yaml.html.
Site read_slurm_topology_yaml(std::string_view text, const std::string& file, const std::string& chosen);

}  // namespace stepcast::language
