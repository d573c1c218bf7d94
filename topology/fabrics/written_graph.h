#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "topology/spec.h"

namespace stepcast::topology {

/// A fabric of kind "graph" as its keys say it, with numbers for names.
struct WrittenGraph {
  /// Network cards of a node that plug into a switch.
  struct Plug {
    std::uint32_t node = 0, at = 0;   ///< `at`: the switch
    std::vector<std::uint32_t> nics;  ///< empty: all
  };
  struct Cables {
    std::uint32_t a = 0, b = 0;  ///< switches
    std::optional<Bandwidth> bandwidth;
    std::uint32_t count = 1;
  };
  std::vector<std::string> switches, nodes;  ///< their names; nodes in the order in which switches list them
  std::vector<Plug> plugs;
  std::vector<Cables> cables;
};

/// Throws InputError("", "KEY: found ..., expected ...") for what the keys `switches` and `cables` may not say, where
/// KEY is one such as "switches[2].nodes".
WrittenGraph read_written_graph(const FabricSpec& spec);

/// Of each switch the number of the part of the graph that it is in: two of one part have cables between them, directly
/// or by way of others.
std::vector<std::uint32_t> connected_parts(const WrittenGraph& graph);

}  // namespace stepcast::topology
