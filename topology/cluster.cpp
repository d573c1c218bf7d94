#include "topology/cluster.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "sim/input_error.h"
#include "topology/builders.h"
#include "topology/builders/pcie_tree.h"
#include "topology/cluster_impl.h"
#include "topology/fabrics.h"

namespace stepcast::topology {

namespace {

/// Appends links to a path and keeps its sums right.
class PathWriter {
 public:
  explicit PathWriter(const Cluster::Impl& impl) : impl_(impl) {
    path_.bandwidth.value = std::numeric_limits<double>::infinity();
  }

  void inside(std::uint32_t node, const NodeRoute& route) {
    for (const std::uint32_t e : route.edges) path_.links.push_back(impl_.node_link(node, e));
    meet(route.bandwidth, route.latency, route.kind);
  }
  void port(std::uint32_t node, std::uint32_t nic, bool down) {
    path_.links.push_back(impl_.port_link(node, nic, down));
    meet(impl_.port, down ? impl_.port_down : impl_.port_up, PathKind::network);
  }
  void across(const std::vector<std::uint32_t>& fabric_links) {
    for (const std::uint32_t f : fabric_links) {
      const FabricLink& link = impl_.fabric->links[f];
      path_.links.push_back(LinkId{impl_.fabric_base() + f});
      meet(link.bandwidth, link.latency, PathKind::network);
    }
  }
  Path finish() && {
    path_.loads.assign(path_.links.size(), 1.0);
    return std::move(path_);
  }

 private:
  void meet(Bandwidth bandwidth, Time latency, PathKind kind) {
    path_.bandwidth = std::min(path_.bandwidth, bandwidth);
    path_.latency += latency;
    path_.kind = std::max(path_.kind, kind);
  }
  const Cluster::Impl& impl_;
  Path path_;
};

std::string name_of(const Cluster::Impl& impl, std::uint32_t node, std::uint32_t gpu) {
  return impl.device(node * impl.devices_per_node() + impl.node.gpus[gpu]).name;
}

/// Whole nodes, or a part of one.
std::uint32_t count_nodes(const NodeSpec& node, std::uint32_t per_node, std::uint32_t gpus) {
  if (gpus == 0) throw InputError(node.name, "0 GPUs: a cluster has at least 1");
  if (gpus > per_node && gpus % per_node != 0) {
    throw InputError(node.name,
                     std::to_string(gpus) + " GPUs is no whole number of nodes of " + std::to_string(per_node));
  }
  return std::max(1u, gpus / per_node);
}

void join_nodes(Cluster::Impl& impl, const NodeSpec& node, const FabricSpec& fabric) {
  if (impl.node.nics.empty()) {
    throw InputError(node.name, std::to_string(impl.nodes) + " nodes cannot be joined: the node has no NICs");
  }
  if (!node.nic) {
    throw InputError(node.name, std::to_string(impl.nodes) + " nodes cannot be joined: 'nic' names no link type");
  }
  check(node, *node.nic);
  impl.port = payload(*node.nic);
  impl.port_up = node.nic->latency + fabric.cable_latency + fabric.switch_latency;
  impl.port_down = node.nic->latency + fabric.cable_latency;
  impl.fabric = build_fabric({fabric, impl.nodes, static_cast<std::uint32_t>(impl.node.nics.size()), impl.port});
}

}  // namespace

Device Cluster::Impl::device(std::uint32_t index) const {
  const std::uint32_t in_nodes = nodes * devices_per_node();
  if (index >= in_nodes) return fabric->device(index - in_nodes);
  const Device& device = node.graph.devices[index % devices_per_node()];
  return {"node " + std::to_string(index / devices_per_node()) + " / " + device.name, device.kind};
}

Cluster::Impl::Ends Cluster::Impl::ends(LinkId id) const {
  const std::uint32_t i = index(id);
  if (i >= fabric_base()) {
    if (!fabric || i - fabric_base() >= fabric->links.size()) throw std::logic_error("link id beyond the last link");
    const FabricLink& link = fabric->links[i - fabric_base()];
    const std::uint32_t first = nodes * devices_per_node();
    return {first + link.from, first + link.to, LinkKind::network, link.bandwidth, link.latency};
  }
  const std::uint32_t at = i / links_per_node, place = i % links_per_node, first = at * devices_per_node();
  if (place < node_edges()) {
    const Edge& edge = node.graph.edges[place];
    return {first + edge.from, first + edge.to, edge.kind, edge.bandwidth, edge.latency};
  }
  const std::uint32_t nic = (place - node_edges()) / 2;
  const std::uint32_t nic_device = first + node.nics[nic];
  const std::uint32_t leaf = nodes * devices_per_node() + fabric->switch_of(at, nic);
  if ((place - node_edges()) % 2 == 0) return {nic_device, leaf, LinkKind::network, port, port_up};
  return {leaf, nic_device, LinkKind::network, port, port_down};
}

Cluster::Cluster(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

std::uint32_t Cluster::gpus() const { return impl_->nodes * impl_->gpus_per_node; }
std::uint32_t Cluster::gpus_per_node() const { return impl_->gpus_per_node; }
std::uint32_t Cluster::nodes() const { return impl_->nodes; }
std::uint32_t Cluster::links() const {
  return impl_->fabric_base() + (impl_->fabric ? static_cast<std::uint32_t>(impl_->fabric->links.size()) : 0);
}

Path Cluster::path(GpuId from, GpuId to) const {
  if (index(from) >= gpus() || index(to) >= gpus()) throw std::logic_error("GPU id beyond the last GPU");
  const Impl& impl = *impl_;
  const std::uint32_t per_node = impl.gpus_per_node;
  const std::uint32_t from_node = index(from) / per_node, to_node = index(to) / per_node;
  const std::uint32_t a = index(from) % per_node, b = index(to) % per_node;
  const auto no_path = [&] {
    return InputError("", "no path from " + name_of(impl, from_node, a) + " to " + name_of(impl, to_node, b));
  };
  PathWriter writer(impl);
  if (from_node == to_node) {
    const NodeRoute& route = impl.node.between(a, b);
    if (!route.found) throw no_path();
    writer.inside(from_node, route);
    return std::move(writer).finish();
  }

  // PXN: where NICs are on rails, the sender's peer that owns the receiver's rail does the sending.
  std::uint32_t sender = a;
  const NodeRoute& hop = impl.node.between(a, b);
  if (impl.fabric->rails && impl.node.nic_of[a] != impl.node.nic_of[b] && hop.kind == PathKind::nvlink) sender = b;
  const NodeRoute& out = impl.node.gpu_to_nic[sender];
  const NodeRoute& in = impl.node.nic_to_gpu[b];
  if (!out.found || !in.found) throw no_path();
  const std::uint32_t out_nic = impl.node.nic_of[sender], in_nic = impl.node.nic_of[b];
  std::vector<std::uint32_t> fabric_links;
  const std::uint64_t flow = std::uint64_t{index(from)} << 32 | index(to);
  if (!impl.fabric->route(impl.fabric->switch_of(from_node, out_nic), impl.fabric->switch_of(to_node, in_nic), flow,
                          fabric_links)) {
    throw no_path();
  }
  if (sender != a) writer.inside(from_node, hop);
  writer.inside(from_node, out);
  writer.port(from_node, out_nic, false);
  writer.across(fabric_links);
  writer.port(to_node, in_nic, true);
  writer.inside(to_node, in);
  return std::move(writer).finish();
}

Link Cluster::link(LinkId id) const {
  const Impl::Ends ends = impl_->ends(id);
  return {impl_->device(ends.from).name, impl_->device(ends.to).name, ends.kind, ends.bandwidth, ends.latency};
}

Bandwidth Cluster::link_bandwidth(LinkId id) const { return impl_->ends(id).bandwidth; }

Cluster build_cluster(const NodeSpec& node, const FabricSpec& fabric, std::uint32_t gpus) {
  auto impl = std::make_shared<Cluster::Impl>();
  impl->node = make_node_template(find_builder(node).build(node), node.pcie_p2p);
  const auto per_node = static_cast<std::uint32_t>(impl->node.gpus.size());
  impl->nodes = count_nodes(node, per_node, gpus);
  impl->gpus_per_node = std::min(per_node, gpus);
  if (impl->nodes > 1) join_nodes(*impl, node, fabric);
  impl->links_per_node =
      impl->node_edges() + (impl->fabric ? 2 * static_cast<std::uint32_t>(impl->node.nics.size()) : 0);
  const std::uint64_t links =
      std::uint64_t{impl->nodes} * impl->links_per_node + (impl->fabric ? impl->fabric->links.size() : 0);
  if (links > std::numeric_limits<std::uint32_t>::max()) {
    throw InputError(node.name, std::to_string(gpus) + " GPUs have more links than can be numbered");
  }
  return Cluster(std::move(impl));
}

}  // namespace stepcast::topology
