#pragma once

#include "topology/spec.h"

namespace stepcast::topology {

/// Whether all flows share equal-cost paths, which then are one wide link; otherwise each flow draws its own path.
inline bool shares_paths(const FabricSpec& spec) { return spec.routing != "hash"; }

/// How many links' worth of traffic `ways` equal-cost links carry together. Fewer than there are where packets are
/// sprayed over them: some get more packets than others.
inline double carried_by(const FabricSpec& spec, double ways) {
  return spec.routing == "spray" && ways > 1 ? ways * spec.spray_efficiency.value_or(1) : ways;
}

}  // namespace stepcast::topology
