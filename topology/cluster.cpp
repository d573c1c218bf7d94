#include "topology/cluster.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "sim/input_error.h"
#include "topology/cluster_parts.h"
#include "topology/fabrics.h"
#include "topology/link_types.h"
#include "topology/node_builders.h"
#include "topology/random_pick.h"

namespace stepcast::topology {

namespace {

/// Appends links to a path and keeps its sums right. A path is one strand, or several that share the bytes evenly.
class PathWriter {
 public:
  PathWriter(const ClusterParts& parts, std::uint32_t strands) : parts_(parts), strands_(strands) {
    constexpr std::size_t kMost = 16;  // of nearly all paths of one strand
    path_.links.reserve(kMost);
    crossed_.reserve(kMost);
  }

  void inside(std::uint32_t node, const NodeRoute& route) {
    for (const std::uint32_t e : route.edges) {
      const Edge& edge = parts_.node.graph.edges[e];
      add(parts_.node_link(node, e), edge.bandwidth, edge.latency, route.kind);
    }
  }
  void port(std::uint32_t node, std::uint32_t nic, bool down) {
    add(parts_.port_link(node, nic, down), parts_.port, down ? parts_.port_down : parts_.port_up, PathKind::network);
  }
  void across(const std::vector<std::uint32_t>& fabric_links) {
    for (const std::uint32_t f : fabric_links) {
      const FabricLink& link = parts_.fabric->links[f];
      add(LinkId{parts_.fabric_base() + f}, link.bandwidth, link.latency, PathKind::network);
    }
  }
  void end_strand() {
    path_.latency = std::max(path_.latency, latency_);
    latency_ = {};
  }
  Path finish() && {
    path_.bandwidth.value = std::numeric_limits<double>::infinity();
    path_.loads.reserve(crossed_.size());
    for (const CrossedLink& link : crossed_) {
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

  const ClusterParts& parts_;
  std::uint32_t strands_;
  Path path_;
  Time latency_{};
  struct CrossedLink {
    std::uint32_t times = 0;  ///< strands that cross the link
    Bandwidth bandwidth{};
  };
  std::vector<CrossedLink> crossed_;  ///< [place in path_.links]
};

std::string name_of(const ClusterParts& parts, std::uint32_t node, std::uint32_t gpu) {
  return parts.device(node * parts.devices_per_node() + parts.node.gpus[gpu]).name;
}

/// Whole nodes, or a part of one.
void check_whole_nodes(const NodeSpec& node, std::uint32_t per_node, std::uint32_t gpus) {
  if (gpus == 0) throw InputError(node.name, "0 GPUs: a cluster has at least 1");
  if (gpus > per_node && gpus % per_node != 0) {
    throw InputError(node.name,
                     std::to_string(gpus) + " GPUs is no whole number of nodes of " + std::to_string(per_node));
  }
}

/// Cluster::kinds_of_nodes. Requires no more GPUs than links can be numbered for.
std::vector<std::uint32_t> kinds_of_nodes(const ClusterParts& parts, const FabricSpec& fabric) {
  const bool alike = std::uint64_t{parts.gpus.period()} * parts.gpus.used_nodes() == parts.gpus.gpus();
  if (!parts.fabric || !alike || hashes(fabric)) return {};
  std::map<std::vector<std::uint32_t>, std::uint32_t> kinds;  // by what the NICs plug into
  std::vector<std::uint32_t> of_nodes;
  for (std::uint32_t gpu = 0; gpu < parts.gpus.gpus(); gpu += parts.gpus.period()) {
    std::vector<std::uint32_t> switches;
    for (std::uint32_t nic = 0; nic < parts.node.nics.size(); ++nic)
      switches.push_back(parts.fabric->switch_of(parts.gpus.slot(GpuId{gpu}).node, nic));
    of_nodes.push_back(kinds.try_emplace(std::move(switches), static_cast<std::uint32_t>(kinds.size())).first->second);
  }
  return of_nodes;
}

void join_nodes(ClusterParts& parts, const NodeSpec& node, const FabricSpec& fabric) {
  if (parts.node.nics.empty()) {
    throw InputError(node.name, std::to_string(parts.gpus.nodes()) + " nodes cannot be joined: the node has no NICs");
  }
  if (!node.nic) {
    throw InputError(node.name,
                     std::to_string(parts.gpus.nodes()) + " nodes cannot be joined: 'nic' names no link type");
  }
  check(node, *node.nic);
  parts.port = payload(*node.nic);
  parts.port_data_sheet = node.nic->bandwidth;
  parts.nccl = node.nic->nccl;
  parts.in_network_reduction = fabric.in_network_reduction;
  parts.hashing = scrambled(fabric.seed);
  parts.port_up = node.nic->latency + fabric.cable_latency + fabric.switch_latency;
  parts.port_down = node.nic->latency + fabric.cable_latency;
  parts.fabric = build_fabric({fabric, parts.gpus.nodes(), static_cast<std::uint32_t>(parts.node.nics.size()),
                               parts.port, node.nic->efficiency});
}

/// PXN: where NICs are on rails, a GPU in use of the sender's node that owns the receiver's rail does the sending. The
/// receiver's counterpart first, then the first that NVLink reaches; the sender itself without one.
std::uint32_t relay(const ClusterParts& parts, const GpuSlots::Slot& a, const GpuSlots::Slot& b) {
  const NodeTemplate& node = parts.node;
  if (!parts.fabric->rails || node.nics_of[a.gpu] == node.nics_of[b.gpu]) return a.gpu;
  const auto fits = [&](std::uint32_t gpu) {
    return parts.gpus.used(a.node, gpu) && node.nics_of[gpu] == node.nics_of[b.gpu] &&
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
std::optional<Path> between_nodes(const ClusterParts& parts, const GpuSlots::Slot& a, std::uint32_t sender,
                                  const GpuSlots::Slot& b, const std::vector<std::uint32_t>& out, std::uint64_t flow) {
  const NodeTemplate& node = parts.node;
  const std::vector<std::uint32_t>& in = node.nics_of[b.gpu];
  if (out.empty() || in.empty()) return {};
  const auto strands = static_cast<std::uint32_t>(std::lcm(out.size(), in.size()));
  PathWriter writer(parts, strands);
  std::vector<std::uint32_t> fabric_links;
  for (std::uint32_t s = 0; s < strands; ++s) {
    const std::uint32_t out_nic = out[s % out.size()], in_nic = in[s % in.size()];
    const NodeRoute &up = node.out(sender, out_nic), &down = node.in(in_nic, b.gpu);
    fabric_links.clear();
    if (!up.found || !down.found ||
        !parts.fabric->route(parts.fabric->switch_of(a.node, out_nic), parts.fabric->switch_of(b.node, in_nic),
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
void number_links(ClusterParts& parts, const NodeSpec& node) {
  parts.links_per_node =
      parts.node_edges() + (parts.fabric ? 2 * static_cast<std::uint32_t>(parts.node.nics.size()) : 0);
  const std::uint64_t links =
      std::uint64_t{parts.gpus.nodes()} * parts.links_per_node + (parts.fabric ? parts.fabric->links.size() : 0);
  if (links > std::numeric_limits<std::uint32_t>::max()) {
    throw InputError(node.name, std::to_string(parts.gpus.gpus()) + " GPUs have more links than can be numbered");
  }
}

NodeTemplate node_template(const NodeSpec& node) {
  return make_node_template(find_builder(node).build(node), {node.pcie_p2p, node.nvlink_forwarding});
}

std::shared_ptr<ClusterParts> begin(const NodeSpec& node) {
  auto parts = std::make_shared<ClusterParts>();
  parts->node = node_template(node);
  parts->nvlink_sharp = node.nvlink_sharp;
  parts->compute_capability = node.compute_capability;
  parts->cpu = node.cpu;
  parts->pcie_p2p = node.pcie_p2p;
  return parts;
}

}  // namespace

Cluster::Cluster(std::shared_ptr<const ClusterParts> parts, const std::optional<SlowNode>& slow)
    : parts_(std::move(parts)) {
  if (!slow) return;
  std::uint32_t gpu = 0;
  while (gpu < gpus() && node_of(GpuId{gpu}) != slow->node) ++gpu;
  if (gpu == gpus()) throw std::logic_error("slow node beyond the last node");
  first_of_slow_node_ = index(first_link_of_node(GpuId{gpu}));
  slow_speed_ = slow->speed;
}

std::uint32_t Cluster::gpus() const { return parts_->gpus.gpus(); }
std::uint32_t Cluster::gpus_per_node() const { return parts_->gpus.period(); }
std::uint32_t Cluster::nodes() const { return parts_->gpus.used_nodes(); }
std::uint32_t Cluster::links() const {
  return parts_->fabric_base() + (parts_->fabric ? static_cast<std::uint32_t>(parts_->fabric->links.size()) : 0);
}
bool Cluster::nvlink_sharp() const { return parts_->nvlink_sharp; }
bool Cluster::in_network_reduction() const { return parts_->in_network_reduction; }
std::uint32_t Cluster::compute_capability() const { return parts_->compute_capability; }
CpuVendor Cluster::cpu() const { return parts_->cpu; }
bool Cluster::pcie_p2p() const { return parts_->pcie_p2p; }
NicPort Cluster::nic_port() const { return {parts_->port_data_sheet, parts_->port, parts_->nccl}; }
std::uint32_t Cluster::torus_row() const {
  return nodes() == 1 && gpus() == parts_->node.gpus.size() ? parts_->node.graph.torus_row : 0;
}
std::uint32_t Cluster::place_in_node(GpuId gpu) const { return parts_->gpus.slot(gpu).gpu; }
std::uint32_t Cluster::node_of(GpuId gpu) const { return parts_->gpus.slot(gpu).used_node; }
std::string Cluster::name(GpuId gpu) const {
  const GpuSlots::Slot slot = parts_->gpus.slot(gpu);
  return name_of(*parts_, slot.node, slot.gpu);
}

Path Cluster::path(GpuId from, GpuId to) const {
  if (index(from) >= gpus() || index(to) >= gpus()) throw std::logic_error("GPU id beyond the last GPU");
  const ClusterParts& parts = *parts_;
  const GpuSlots::Slot a = parts.gpus.slot(from), b = parts.gpus.slot(to);
  if (a.node == b.node) {
    const NodeRoute& route = parts.node.between(a.gpu, b.gpu);
    if (!route.found) throw InputError("", "no path from " + name(from) + " to " + name(to));
    PathWriter writer(parts, 1);
    writer.inside(a.node, route);
    writer.end_strand();
    return std::move(writer).finish();
  }
  const std::uint64_t flow = (std::uint64_t{index(from)} << 32 | index(to)) + parts.hashing;
  const std::uint32_t sender = relay(parts, a, b);
  std::optional<Path> path;
  // A link of two GPUs alone belongs to what these two send each other; beside NVSwitches all share what a GPU has.
  if (sender != a.gpu && parts.node.between(a.gpu, sender).edges.size() == 1)
    path = between_nodes(parts, a, a.gpu, b, parts.node.nics_of[a.gpu], flow);
  if (!path) path = between_nodes(parts, a, sender, b, parts.node.nics_of[sender], flow);
  // Rails that never meet, and no relay in use: the sender reaches over to the receiver's NICs.
  if (!path) path = between_nodes(parts, a, a.gpu, b, parts.node.nics_of[b.gpu], flow);
  if (!path) throw InputError("", "no path from " + name(from) + " to " + name(to));
  return *std::move(path);
}

Link Cluster::link(LinkId id) const {
  const ClusterParts::LinkEnds ends = parts_->ends(id);
  return {parts_->device(ends.from).name, parts_->device(ends.to).name, ends.kind, ends.bandwidth, ends.latency};
}

LinkTraits Cluster::link_traits(LinkId id) const {
  const ClusterParts::LinkEnds ends = parts_->ends(id);
  return {ends.kind, ends.bandwidth, ends.latency};
}

DeviceKind Cluster::link_source_kind(LinkId id) const { return parts_->device(parts_->ends(id).from).kind; }
DeviceKind Cluster::link_target_kind(LinkId id) const { return parts_->device(parts_->ends(id).to).kind; }
std::uint32_t Cluster::link_source(LinkId id) const { return parts_->ends(id).from; }
std::uint32_t Cluster::link_target(LinkId id) const { return parts_->ends(id).to; }

bool Cluster::fabric_may_block() const { return parts_->fabric && parts_->fabric->may_block; }

std::uint32_t Cluster::first_fabric_link() const { return parts_->fabric ? parts_->fabric_base() : links(); }

std::uint32_t Cluster::links_per_node() const { return parts_->links_per_node; }

LinkId Cluster::first_link_of_node(GpuId gpu) const { return parts_->node_link(parts_->gpus.slot(gpu).node, 0); }

const std::vector<std::uint32_t>& Cluster::kinds_of_nodes() const { return parts_->kinds_of_nodes; }

bool Cluster::in_node_of(GpuId gpu, LinkId link) const {
  const std::uint32_t first = index(first_link_of_node(gpu));
  return index(link) >= first && index(link) < first + parts_->links_per_node;
}

Bandwidth Cluster::link_bandwidth(LinkId id) const { return parts_->bandwidth(id); }

double Cluster::link_speed(LinkId id) const {
  if (!has_slow_node()) return 1;
  const bool of_node = index(id) >= first_of_slow_node_ && index(id) < first_of_slow_node_ + links_per_node();
  return of_node && parts_->ends(id).kind == LinkKind::network ? slow_speed_ : 1;
}

Cluster Cluster::without_slow_node() const { return Cluster(parts_); }

Cluster build_cluster(const NodeSpec& node, const FabricSpec& fabric, std::uint32_t gpus,
                      const std::optional<Allocation>& allocation, const std::optional<SlowNode>& slow) {
  const auto parts = begin(node);
  const auto per_node = static_cast<std::uint32_t>(parts->node.gpus.size());
  if (allocation) {
    parts->gpus = GpuSlots(per_node, resolve(*allocation, per_node, node.name));
  } else {
    check_whole_nodes(node, per_node, gpus);
    parts->gpus = GpuSlots(per_node, gpus);
  }
  if (parts->gpus.used_nodes() > 1) join_nodes(*parts, node, fabric);
  number_links(*parts, node);
  parts->kinds_of_nodes = kinds_of_nodes(*parts, fabric);
  return Cluster(parts, slow);
}

Cluster build_cluster(const NodeSpec& node, const FabricSpec& fabric, std::uint32_t gpus) {
  return build_cluster(node, fabric, gpus, std::nullopt);
}

Cluster build_cluster(const NodeSpec& node, const FabricSpec& fabric, const Allocation& allocation) {
  return build_cluster(node, fabric, 0, allocation);
}

}  // namespace stepcast::topology
