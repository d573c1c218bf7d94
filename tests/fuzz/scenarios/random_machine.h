#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "language/core/library.h"
#include "tests/fuzz/scenarios/choices.h"
#include "tests/fuzz/scenarios/mapping.h"

namespace stepcast::test {

/// A file of configs/gpus/.
struct KnownGpu {
  std::string name;
  std::vector<std::string> precisions;
};

/// A file of configs/nodes/, and what a plan for it must know.
struct KnownNode {
  std::string name;
  std::uint32_t gpus = 0, nics = 0;
  bool has_nics = false;
  std::vector<std::string> precisions;
};

/// A file of configs/models/.
struct KnownModel {
  std::string name, family;
};

/// What scenarios can name.
struct ConfigNames {
  std::vector<KnownNode> nodes;
  std::vector<KnownGpu> gpus;
  std::vector<KnownModel> models;
  std::vector<std::string> fabrics, software;
};

ConfigNames config_names(language::Library& library);

/// A cluster block, and the machine that the rest of the scenario is planned for.
struct RandomMachine {
  Mapping cluster;
  std::uint64_t gpus = 0, gpus_per_node = 0, nodes = 0;
  std::uint64_t nics_per_node = 0;  ///< that nics_per_node may take some of
  std::vector<std::string> precisions;
  bool two_kinds = false;  ///< of GPUs
};

/// Mostly a node of configs/ or a hand-written one, a few of them, and a fabric that may join them.
RandomMachine random_machine(Choices& choose, const ConfigNames& names);

}  // namespace stepcast::test
