#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "topology/cluster.h"

namespace stepcast::app {

/// Boxes (devices, or whole nodes) that a picture of a machine still shows apart.
inline constexpr std::size_t kMostDrawnBoxes = 600;

/// A machine as an SVG page. Of one node: sockets above, under them PCIe switches, GPUs and adapters (those of one
/// switch as one box), NVSwitches at the bottom. Of several nodes each is a box under the switches of the fabric.
/// `sides`: of the torus that the GPUs of the one node (or the routers of the fabric) are; empty: none. `title`: its
/// first line. Throws InputError naming --plot where there is too much to draw.
std::string machine_svg(const topology::Cluster& cluster, const std::vector<std::uint32_t>& sides,
                        const std::string& title);

}  // namespace stepcast::app
