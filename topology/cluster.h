#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "topology/allocation.h"
#include "topology/spec.h"

namespace stepcast::topology {

enum class GpuId : std::uint32_t {};  ///< GPUs in use, node by node; without an allocation node * gpus_per_node + index
enum class LinkId : std::uint32_t {};  ///< one direction of one link (parallel links of one kind are one, wider)

constexpr std::uint32_t index(GpuId id) { return static_cast<std::uint32_t>(id); }
constexpr std::uint32_t index(LinkId id) { return static_cast<std::uint32_t>(id); }

struct Link {
  std::string from, to;  ///< "node 3 / gpu 2", "leaf 0", ...
  LinkKind kind{};
  Bandwidth bandwidth{};  ///< payload bytes per second: data sheet x efficiency
  Time latency{};
};

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

/// Nodes of one kind joined by a fabric. One node is kept as a Boost.Graph and repeated by arithmetic, so memory and
/// build time grow with distinct things, not with GPUs. Immutable; safe to read from any thread.
class Cluster {
 public:
  std::uint32_t gpus() const;
  /// Those in use, below the node's own count where the cluster is a part of one. Where nodes are used unlike each
  /// other (other GPUs, or other numbers of them) all of gpus(): after this many ids the placement repeats.
  std::uint32_t gpus_per_node() const;
  std::uint32_t nodes() const;  ///< nodes with GPUs in use
  std::uint32_t links() const;
  bool nvlink_sharp() const;          ///< NVSwitches add up what GPUs push: NodeSpec::nvlink_sharp
  bool in_network_reduction() const;  ///< the fabric's switches do: FabricSpec::in_network_reduction; false of one node
  std::uint32_t node_of(GpuId gpu) const;  ///< below nodes(), in the order of the ids
  std::string name(GpuId gpu) const;       ///< "node 3 / gpu 2": numbers of the whole machine

  /// Throws InputError("no path from ... to ...") where the graph has none. O(hops).
  Path path(GpuId from, GpuId to) const;
  Link link(LinkId id) const;
  /// Bandwidth alone, without making names. O(1).
  Bandwidth link_bandwidth(LinkId id) const;

  struct Impl;
  explicit Cluster(std::shared_ptr<const Impl> impl);
  const Impl& impl() const { return *impl_; }  ///< for topology/ itself: topology/cluster_impl.h

 private:
  std::shared_ptr<const Impl> impl_;
};

/// `gpus` in all: whole nodes, or fewer GPUs than one node has. Throws InputError with what is allowed
/// (unknown builder or fabric kind, GPUs that are no whole number of nodes, a node without NICs used twice, ...).
Cluster build_cluster(const NodeSpec& node, const FabricSpec& fabric, std::uint32_t gpus);

/// The GPUs of an allocation; the fabric joins all nodes of the machine, used or not. A relay (PXN) is a GPU in use.
Cluster build_cluster(const NodeSpec& node, const FabricSpec& fabric, const Allocation& allocation);

/// The allocation where there is one, else the first `gpus`.
Cluster build_cluster(const NodeSpec& node, const FabricSpec& fabric, std::uint32_t gpus,
                      const std::optional<Allocation>& allocation);

}  // namespace stepcast::topology
