#include "topology/cluster.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
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

/// Appends links to a path and keeps its sums right. A path is one strand, or several that share the bytes evenly.
class PathWriter {
 public:
  PathWriter(const Cluster::Impl& impl, std::uint32_t strands) : impl_(impl), strands_(strands) {
    constexpr std::size_t kMost = 16;  // of nearly all paths of one strand
    path_.links.reserve(kMost);
    crossed_.reserve(kMost);
  }

  void inside(std::uint32_t node, const NodeRoute& route) {
    for (const std::uint32_t e : route.edges) {
      const Edge& edge = impl_.node.graph.edges[e];
      add(impl_.node_link(node, e), edge.bandwidth, edge.latency, route.kind);
    }
  }
  void port(std::uint32_t node, std::uint32_t nic, bool down) {
    add(impl_.port_link(node, nic, down), impl_.port, down ? impl_.port_down : impl_.port_up, PathKind::network);
  }
  void across(const std::vector<std::uint32_t>& fabric_links) {
    for (const std::uint32_t f : fabric_links) {
      const FabricLink& link = impl_.fabric->links[f];
      add(LinkId{impl_.fabric_base() + f}, link.bandwidth, link.latency, PathKind::network);
    }
  }
  void end_strand() {
    path_.latency = std::max(path_.latency, latency_);
    latency_ = {};
  }
  Path finish() && {
    path_.bandwidth.value = std::numeric_limits<double>::infinity();
    path_.loads.reserve(crossed_.size());
    for (const Crossed& link : crossed_) {
      path_.loads.push_back(static_cast<double>(link.times) / strands_);
      path_.bandwidth = std::min(path_.bandwidth, link.bandwidth * (1 / path_.loads.back()));
    }
    return std::move(path_);
  }

 private:
  void add(LinkId id, Bandwidth bandwidth, Time latency, PathKind kind) {
    latency_ += latency;
    path_.kind = std::max(path_.kind, kind);
    const auto known = strands_ == 1 ? path_.links.end() : std::find(path_.links.begin(), path_.links.end(), id);
    if (known != path_.links.end()) {
      ++crossed_[static_cast<std::size_t>(known - path_.links.begin())].times;
      return;
    }
    path_.links.push_back(id);
    crossed_.push_back({1, bandwidth});
  }

  const Cluster::Impl& impl_;
  std::uint32_t strands_;
  Path path_;
  Time latency_{};
  struct Crossed {
    std::uint32_t times = 0;  ///< strands that cross the link
    Bandwidth bandwidth{};
  };
  std::vector<Crossed> crossed_;  ///< [place in path_.links]
};

std::string name_of(const Cluster::Impl& impl, std::uint32_t node, std::uint32_t gpu) {
  return impl.device(node * impl.devices_per_node() + impl.node.gpus[gpu]).name;
}

/// Whole nodes, or a part of one.
void check_whole_nodes(const NodeSpec& node, std::uint32_t per_node, std::uint32_t gpus) {
  if (gpus == 0) throw InputError(node.name, "0 GPUs: a cluster has at least 1");
  if (gpus > per_node && gpus % per_node != 0) {
    throw InputError(node.name,
                     std::to_string(gpus) + " GPUs is no whole number of nodes of " + std::to_string(per_node));
  }
}

void join_nodes(Cluster::Impl& impl, const NodeSpec& node, const FabricSpec& fabric) {
  if (impl.node.nics.empty()) {
    throw InputError(node.name, std::to_string(impl.gpus.nodes()) + " nodes cannot be joined: the node has no NICs");
  }
  if (!node.nic) {
    throw InputError(node.name,
                     std::to_string(impl.gpus.nodes()) + " nodes cannot be joined: 'nic' names no link type");
  }
  check(node, *node.nic);
  impl.port = payload(*node.nic);
  impl.port_data_sheet = node.nic->bandwidth;
  impl.in_network_reduction = fabric.in_network_reduction;
  impl.port_up = node.nic->latency + fabric.cable_latency + fabric.switch_latency;
  impl.port_down = node.nic->latency + fabric.cable_latency;
  impl.fabric = build_fabric({fabric, impl.gpus.nodes(), static_cast<std::uint32_t>(impl.node.nics.size()), impl.port});
}

/// PXN: where NICs are on rails, a GPU in use of the sender's node that owns the receiver's rail does the sending. The
/// receiver's counterpart first, then the first that NVLink reaches; the sender itself without one.
std::uint32_t relay(const Cluster::Impl& impl, const GpuSlots::Slot& a, const GpuSlots::Slot& b) {
  const NodeTemplate& node = impl.node;
  if (!impl.fabric->rails || node.nics_of[a.gpu] == node.nics_of[b.gpu]) return a.gpu;
  const auto fits = [&](std::uint32_t gpu) {
    return impl.gpus.used(a.node, gpu) && node.nics_of[gpu] == node.nics_of[b.gpu] &&
           node.between(a.gpu, gpu).kind == PathKind::nvlink;
  };
  if (fits(b.gpu)) return b.gpu;
  for (std::uint32_t gpu = 0; gpu < node.gpus.size(); ++gpu) {
    if (fits(gpu)) return gpu;
  }
  return a.gpu;
}

/// From GPU a over the `out` NICs of `sender`, a GPU of its node, to GPU b; nothing where there is no way. With n and m
/// NICs the bytes go in lcm(n, m) equal strands.
std::optional<Path> between_nodes(const Cluster::Impl& impl, const GpuSlots::Slot& a, std::uint32_t sender,
                                  const GpuSlots::Slot& b, const std::vector<std::uint32_t>& out, std::uint64_t flow) {
  const NodeTemplate& node = impl.node;
  const std::vector<std::uint32_t>& in = node.nics_of[b.gpu];
  if (out.empty() || in.empty()) return {};
  const auto strands = static_cast<std::uint32_t>(std::lcm(out.size(), in.size()));
  PathWriter writer(impl, strands);
  std::vector<std::uint32_t> fabric_links;
  for (std::uint32_t s = 0; s < strands; ++s) {
    const std::uint32_t out_nic = out[s % out.size()], in_nic = in[s % in.size()];
    const NodeRoute &up = node.out(sender, out_nic), &down = node.in(in_nic, b.gpu);
    fabric_links.clear();
    if (!up.found || !down.found ||
        !impl.fabric->route(impl.fabric->switch_of(a.node, out_nic), impl.fabric->switch_of(b.node, in_nic),
                            flow + s * 0x9e3779b97f4a7c15u, fabric_links)) {
      return {};
    }
    if (sender != a.gpu) writer.inside(a.node, node.between(a.gpu, sender));
    writer.inside(a.node, up);
    writer.port(a.node, out_nic, false);
    writer.across(fabric_links);
    writer.port(b.node, in_nic, true);
    writer.inside(b.node, down);
    writer.end_strand();
  }
  return std::move(writer).finish();
}

/// Numbers the links, and throws InputError where there are too many.
void number_links(Cluster::Impl& impl, const NodeSpec& node) {
  impl.links_per_node = impl.node_edges() + (impl.fabric ? 2 * static_cast<std::uint32_t>(impl.node.nics.size()) : 0);
  const std::uint64_t links =
      std::uint64_t{impl.gpus.nodes()} * impl.links_per_node + (impl.fabric ? impl.fabric->links.size() : 0);
  if (links > std::numeric_limits<std::uint32_t>::max()) {
    throw InputError(node.name, std::to_string(impl.gpus.gpus()) + " GPUs have more links than can be numbered");
  }
}

NodeTemplate node_template(const NodeSpec& node) {
  return make_node_template(find_builder(node).build(node), {node.pcie_p2p, node.nvlink_forwarding});
}

std::shared_ptr<Cluster::Impl> begin(const NodeSpec& node) {
  auto impl = std::make_shared<Cluster::Impl>();
  impl->node = node_template(node);
  impl->nvlink_sharp = node.nvlink_sharp;
  impl->compute_capability = node.compute_capability;
  impl->cpu = node.cpu;
  return impl;
}

}  // namespace

Device Cluster::Impl::device(std::uint32_t index) const {
  const std::uint32_t in_nodes = gpus.nodes() * devices_per_node();
  if (index >= in_nodes) return fabric->device(index - in_nodes);
  const Device& device = node.graph.devices[index % devices_per_node()];
  return {"node " + std::to_string(index / devices_per_node()) + " / " + device.name, device.kind};
}

Cluster::Impl::Ends Cluster::Impl::ends(LinkId id) const {
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

Cluster::Cluster(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

std::uint32_t Cluster::gpus() const { return impl_->gpus.gpus(); }
std::uint32_t Cluster::gpus_per_node() const { return impl_->gpus.period(); }
std::uint32_t Cluster::nodes() const { return impl_->gpus.used_nodes(); }
std::uint32_t Cluster::links() const {
  return impl_->fabric_base() + (impl_->fabric ? static_cast<std::uint32_t>(impl_->fabric->links.size()) : 0);
}
bool Cluster::nvlink_sharp() const { return impl_->nvlink_sharp; }
bool Cluster::in_network_reduction() const { return impl_->in_network_reduction; }
std::uint32_t Cluster::node_of(GpuId gpu) const { return impl_->gpus.slot(gpu).used_node; }
std::string Cluster::name(GpuId gpu) const {
  const GpuSlots::Slot slot = impl_->gpus.slot(gpu);
  return name_of(*impl_, slot.node, slot.gpu);
}

Path Cluster::path(GpuId from, GpuId to) const {
  if (index(from) >= gpus() || index(to) >= gpus()) throw std::logic_error("GPU id beyond the last GPU");
  const Impl& impl = *impl_;
  const GpuSlots::Slot a = impl.gpus.slot(from), b = impl.gpus.slot(to);
  if (a.node == b.node) {
    const NodeRoute& route = impl.node.between(a.gpu, b.gpu);
    if (!route.found) throw InputError("", "no path from " + name(from) + " to " + name(to));
    PathWriter writer(impl, 1);
    writer.inside(a.node, route);
    writer.end_strand();
    return std::move(writer).finish();
  }
  const std::uint64_t flow = std::uint64_t{index(from)} << 32 | index(to);
  const std::uint32_t sender = relay(impl, a, b);
  std::optional<Path> path = between_nodes(impl, a, sender, b, impl.node.nics_of[sender], flow);
  // Rails that never meet, and no relay in use: the sender reaches over to the receiver's NICs.
  if (!path) path = between_nodes(impl, a, a.gpu, b, impl.node.nics_of[b.gpu], flow);
  if (!path) throw InputError("", "no path from " + name(from) + " to " + name(to));
  return *std::move(path);
}

Link Cluster::link(LinkId id) const {
  const Impl::Ends ends = impl_->ends(id);
  return {impl_->device(ends.from).name, impl_->device(ends.to).name, ends.kind, ends.bandwidth, ends.latency};
}

Bandwidth Cluster::link_bandwidth(LinkId id) const { return impl_->ends(id).bandwidth; }

Cluster build_cluster(const NodeSpec& node, const FabricSpec& fabric, std::uint32_t gpus) {
  const auto impl = begin(node);
  const auto per_node = static_cast<std::uint32_t>(impl->node.gpus.size());
  check_whole_nodes(node, per_node, gpus);
  impl->gpus = GpuSlots(per_node, gpus);
  if (impl->gpus.nodes() > 1) join_nodes(*impl, node, fabric);
  number_links(*impl, node);
  return Cluster(impl);
}

Cluster build_cluster(const NodeSpec& node, const FabricSpec& fabric, const Allocation& allocation) {
  const auto impl = begin(node);
  const auto per_node = static_cast<std::uint32_t>(impl->node.gpus.size());
  impl->gpus = GpuSlots(per_node, resolve(allocation, per_node, node.name));
  if (impl->gpus.used_nodes() > 1) join_nodes(*impl, node, fabric);
  number_links(*impl, node);
  return Cluster(impl);
}

Cluster build_cluster(const NodeSpec& node, const FabricSpec& fabric, std::uint32_t gpus,
                      const std::optional<Allocation>& allocation) {
  return allocation ? build_cluster(node, fabric, *allocation) : build_cluster(node, fabric, gpus);
}

}  // namespace stepcast::topology
