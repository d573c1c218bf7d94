#pragma once

#include <cstdint>
#include <vector>

#include "sim/units.h"
#include "topology/ids.h"

namespace stepcast::topology {

/// The worst stretch of a path, best first: which software path a transfer over it takes.
enum class PathKind : std::uint8_t { same_gpu, nvlink, pcie, host, network };

/// The way from one GPU to another. `loads[i]` is the share of the bytes that crosses `links[i]`
/// (1, or less where traffic spreads over parallel paths, or 2 where a bounce crosses a link twice).
struct Path {
  std::vector<LinkId> links;
  std::vector<double> loads;
  Time latency{};         ///< sum over the links
  Bandwidth bandwidth{};  ///< what one flow alone could reach: min of bandwidth / load
  PathKind kind = PathKind::same_gpu;
};

}  // namespace stepcast::topology
