#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "topology/graph.h"

namespace stepcast::topology {

/// Which links a route may use. Only `nvlink_forwarded` passes through other GPUs; host-side routes (PCIe, sockets)
/// never pass through a GPU or a NIC.
enum class Wires : std::uint8_t { nvlink, nvlink_forwarded, host_side };

/// What a route costs, compared from left to right: sockets crossed, hops, latency, then the narrower links.
struct Cost {
  std::uint32_t sockets = 0, hops = 0;
  std::int64_t picoseconds = 0;
  double seconds_per_byte = 0;

  auto operator<=>(const Cost&) const = default;
};

/// A route: places in Graph::edges, first hop first.
struct GraphRoute {
  std::vector<std::uint32_t> edges;
  Cost cost;
};

/// The cheapest routes of a graph, by Boost.Graph's Dijkstra.
class Router {
 public:
  explicit Router(const Graph& graph);
  ~Router();
  Router(const Router&) = delete;
  Router& operator=(const Router&) = delete;

  /// To every device; nothing where there is no way. O((devices + edges) log devices).
  std::vector<std::optional<GraphRoute>> routes_from(std::uint32_t source, Wires wires) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stepcast::topology
