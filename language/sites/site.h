#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "language/core/tree.h"
#include "sim/units.h"

namespace stepcast::language {

/// A switch as another program's file has it. One whose nodes have other cards on it stands several times.
struct SiteSwitch {
  std::string name;
  std::vector<std::string> nodes;     ///< that plug into it
  std::vector<std::uint32_t> nics{};  ///< which network cards of these nodes; empty: all
  Place place;
};

/// Cables between two switches.
struct SiteCables {
  std::string below, above;  ///< `above` is nearer to the top, where there is one
  /// Of one cable in one direction; none: the file does not say how much the switches can send each other.
  std::optional<Bandwidth> bandwidth{};
  std::uint32_t count = 1;
  Place place;
};

/// The network cards of a node, as a fabric has them.
struct SiteCards {
  std::uint32_t count = 0;
  Bandwidth slowest{};  ///< of their links, in one direction
};

/// The network of a site, as far as one file tells it.
struct Site {
  std::vector<SiteSwitch> switches;
  std::vector<SiteCables> cables;
  std::map<std::string, SiteCards> cards{};  ///< by node; empty: the file does not say
  std::string choose_cards{};                ///< how to say which cards count, for people; empty: there is no way
  std::vector<std::string> remarks{};        ///< whole sentences: what the file says that is not used, what was assumed
};

/// A node as Slurm has it.
struct SiteNode {
  std::string name;
  std::string gpu;  ///< its type, "h100"; empty: not said
  std::uint32_t gpus = 0;
  bool up = true;
  Place place;
};

}  // namespace stepcast::language
