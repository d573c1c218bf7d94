#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "topology/cluster.h"

namespace stepcast::collectives::test {

struct Wire {
  std::uint32_t a = 0, b = 0, count = 1;
};

inline constexpr double kLink = 25e9;  ///< of one NVLink of an island, bytes per second
inline constexpr double kPcie = 10e9;

/// GPUs joined by NVLinks as listed, and each by PCIe to one switch. No latency anywhere.
inline topology::Cluster island(std::uint32_t gpus, const std::vector<Wire>& wires) {
  const topology::LinkType nvlink{
      .name = "nvlink", .kind = topology::LinkKind::nvlink, .bandwidth = {kLink}, .latency = {}, .source = {}};
  const topology::LinkType pcie{
      .name = "pcie", .kind = topology::LinkKind::pcie, .bandwidth = {kPcie}, .latency = {}, .source = {}};
  topology::NodeSpec node;
  node.name = "island";
  node.builder = "graph";
  node.gpus = gpus;
  node.devices.push_back({"cpu0", "cpu"});
  node.devices.push_back({"sw0", "pcie-switch"});
  node.links.push_back({"cpu0", "sw0", pcie, 1});
  for (std::uint32_t g = 0; g < gpus; ++g) {
    node.devices.push_back({"gpu" + std::to_string(g), "gpu"});
    node.links.push_back({"gpu" + std::to_string(g), "sw0", pcie, 1});
  }
  for (const Wire& wire : wires) {
    node.links.push_back({"gpu" + std::to_string(wire.a), "gpu" + std::to_string(wire.b), nvlink, wire.count});
  }
  return topology::build_cluster(node, {}, gpus);
}

/// Four GPUs, each joined to the three others: one half of a DGX-1 with P100.
inline std::vector<Wire> full_quad() { return {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}; }

/// DGX-1 with V100: six NVLinks per GPU, two of its links double.
inline std::vector<Wire> dgx1_v100() {
  return {{0, 1, 1}, {0, 2, 1}, {0, 3, 2}, {0, 4, 2}, {1, 2, 2}, {1, 3, 1}, {1, 5, 2}, {2, 3, 2},
          {2, 6, 1}, {3, 7, 1}, {4, 5, 1}, {4, 6, 1}, {4, 7, 2}, {5, 6, 2}, {5, 7, 1}, {6, 7, 2}};
}

inline std::vector<Wire> torus(std::uint32_t width, std::uint32_t height) {
  std::vector<Wire> wires;
  for (std::uint32_t y = 0; y < height; ++y) {
    for (std::uint32_t x = 0; x < width; ++x) {
      wires.push_back({y * width + x, y * width + (x + 1) % width});
      wires.push_back({y * width + x, (y + 1) % height * width + x});
    }
  }
  return wires;
}

}  // namespace stepcast::collectives::test
