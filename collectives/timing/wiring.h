#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "collectives/plan.h"
#include "collectives/request.h"
#include "collectives/timing/placement.h"
#include "collectives/transport.h"
#include "sim/task_graph.h"
#include "topology/cluster.h"

namespace stepcast::collectives {

/// A plan's connections laid over a cluster's links. Links that are used alike by flows that are alike stand for each
/// other: one resource each, with the capacity of one of them.
struct Wiring {
  std::uint32_t groups = 1;          ///< that are simulated; the others do the same
  std::uint32_t connections = 0;     ///< of the plan
  std::vector<Bandwidth> capacity;   ///< by resource: what of a link collectives reach
  std::vector<Bandwidth> bandwidth;  ///< by resource: the link's own, as slow as it is
  /// By resource: of those that the same routes load alike the narrowest one, which is full as soon as any of them.
  std::vector<std::uint32_t> binding;
  std::vector<std::vector<topology::LinkId>> members;  ///< by resource: the links it stands for
  sim::Routes routes;  ///< by group * connections + connection, over the binding resources alone; the whole latency
  Time occupancy{};    ///< the least latency: occupies a connection, the rest overlaps with the transfers before
  struct Aside {
    std::uint32_t links = 0;  ///< in aside_links: each of them
    std::uint32_t route = 0;
    double load = 0;
    double share = 1;  ///< of the link's bandwidth that collectives reach
  };
  /// Fabric links that like flows use unlike (some cross between pods, some do not; routes by hash): each flow is held
  /// to the least share that any of them gets. Those that can be full first are resources without members, shared by
  /// the flows that are active; links of the rest are split as if all were. Empty: folding is exact.
  std::vector<Aside> aside;
  std::vector<std::vector<topology::LinkId>> aside_links;  ///< those that all flows use alike together

  /// The part of a route's latency that overlaps with the transfers before.
  Time ahead(std::size_t route) const { return routes.latency(route) - occupancy; }
  /// What a route's flow could reach if it were the only one.
  Bandwidth alone(std::size_t route) const;
  /// What is known of the binding resources, of all.
  void spread(std::vector<double>& by_resource) const;
};

/// `symmetry` and `stride` say which transfers and groups stand for which: the plan has been made with that fold, and
/// group g stands for g + stride, g + 2 stride, ... Both must divide. Nothing where the placement lacks the symmetry: a
/// node's links or the links' rates differ, or links that should stand for each other are not used alike. That
/// condition (an equitable partition of flows and links) makes max-min rates, and so times, those of the whole.
/// Each transfer waits the transport's alpha for its kind of path and the path's latency; the least of these in the
/// plan occupies the connection, any excess overlaps with earlier transfers on it.
/// O(connections * kinds of pairs of nodes) where nodes shift onto each other (like_nodes.h), else, and with
/// WaySearch::each, O(connections * images) paths; the wirings are equal. Throws InputError where there is no path.
enum class WaySearch : std::uint8_t { soonest, by_kind_of_nodes, each };
std::optional<Wiring> wire(const CollectivePlan& plan, const GroupPlacement& placement,
                           const topology::Cluster& cluster, const Transport& transport, Symmetry symmetry,
                           std::uint32_t stride, WaySearch search = WaySearch::soonest);

}  // namespace stepcast::collectives
