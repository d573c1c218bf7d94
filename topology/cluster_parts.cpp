#include "topology/cluster_parts.h"

#include <stdexcept>
#include <string>

namespace stepcast::topology {

Device ClusterParts::device(std::uint32_t index) const {
  const std::uint32_t in_nodes = gpus.nodes() * devices_per_node();
  if (index >= in_nodes) return fabric->device(index - in_nodes);
  const Device& device = node.graph.devices[index % devices_per_node()];
  return {"node " + std::to_string(index / devices_per_node()) + " / " + device.name, device.kind};
}

ClusterParts::LinkEnds ClusterParts::ends(LinkId id) const {
  const std::uint32_t i = index(id);
  if (i >= fabric_base()) {
    if (!fabric || i - fabric_base() >= fabric->links.size()) throw std::logic_error("link id beyond the last link");
    const FabricLink& link = fabric->links[i - fabric_base()];
    const std::uint32_t first = gpus.nodes() * devices_per_node();
    return {first + link.from, first + link.to, LinkKind::network, link.bandwidth, link.latency};
  }
  const std::uint32_t at = i / links_per_node, place = i % links_per_node, first = at * devices_per_node();
  if (place < node_edges()) {
    const Edge& edge = node.graph.edges[place];
    return {first + edge.from, first + edge.to, edge.kind, edge.bandwidth, edge.latency};
  }
  const std::uint32_t nic = (place - node_edges()) / 2;
  const std::uint32_t nic_device = first + node.nics[nic];
  const std::uint32_t leaf = gpus.nodes() * devices_per_node() + fabric->switch_of(at, nic);
  if ((place - node_edges()) % 2 == 0) return {nic_device, leaf, LinkKind::network, port, port_up};
  return {leaf, nic_device, LinkKind::network, port, port_down};
}

Bandwidth ClusterParts::bandwidth(LinkId id) const {
  const std::uint32_t i = index(id);
  if (i >= fabric_base()) return ends(id).bandwidth;
  const std::uint32_t place = i % links_per_node;
  return place < node_edges() ? node.graph.edges[place].bandwidth : port;
}

}  // namespace stepcast::topology
