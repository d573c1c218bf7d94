#pragma once

#include <optional>
#include <string>
#include <vector>

#include "language/core/library.h"
#include "language/sites/site.h"

namespace stepcast::language {

/// What a file of a site's network does not say.
struct SiteAnswers {
  std::string node;               ///< the machine: of configs/nodes/
  double oversubscription = 1.0;  ///< what cards below a leaf switch can send, over what it leads up
  bool oversubscription_said = false;
  std::string nodelist;  ///< of the job, as Slurm writes it; empty: all nodes that are up
  std::string nodelist_from;
  std::vector<SiteNode> nodes;  ///< as Slurm has them; empty: not told
  std::string made_by;          ///< the command
};

/// A cluster file (docs/own-files.md) of a site, with a comment behind what was not read as it stands. Throws
/// InputError where a node has other GPUs than the machine, and where nodes of the job are on no switch.
std::string cluster_of_site(const Site& site, const SiteAnswers& answers, Library& library);

}  // namespace stepcast::language
