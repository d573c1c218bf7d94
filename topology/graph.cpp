#include "topology/graph.h"

#include <utility>

namespace stepcast::topology {

std::uint32_t Graph::add(DeviceKind kind, std::string name) {
  devices.push_back({std::move(name), kind});
  return static_cast<std::uint32_t>(devices.size() - 1);
}

void Graph::join(std::uint32_t a, std::uint32_t b, const LinkType& type, std::uint32_t count) {
  const Bandwidth wide = payload(type, count);
  edges.push_back({a, b, type.kind, wide, type.latency, count});
  edges.push_back({b, a, type.kind, wide, type.latency, count});
}

std::vector<std::uint32_t> Graph::all(DeviceKind kind) const {
  std::vector<std::uint32_t> found;
  for (std::uint32_t d = 0; d < devices.size(); ++d) {
    if (devices[d].kind == kind) found.push_back(d);
  }
  return found;
}

Bandwidth payload(const LinkType& type, std::uint32_t count) {
  return type.bandwidth * type.efficiency * static_cast<double>(count);
}

}  // namespace stepcast::topology
