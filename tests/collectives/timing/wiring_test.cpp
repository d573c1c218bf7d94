#include "collectives/timing/wiring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "collectives/algorithms.h"
#include "collectives/timing/lower.h"
#include "collectives/timing/paths.h"
#include "sim/executor.h"
#include "tests/collectives/fixtures.h"
#include "tests/sanitized.h"

namespace stepcast::collectives {
namespace {

using test::build;
using test::gpus;

struct Case {
  GroupPlacement placement;
  Request request;
  Symmetry symmetry;
};

Case ring_over(const topology::Cluster& cluster, const Group& group) {
  Case made;
  made.placement = place(cluster, std::span(&group, 1));
  made.request = {.operation = Operation::all_gather, .ranks = made.placement.ranks, .nodes = made.placement.nodes};
  if (made.request.nodes > 1) made.request.channels = made.request.gpus();
  made.symmetry = algorithm("ring").symmetry(made.request);
  made.request.fold = made.symmetry;
  return made;
}

std::optional<Wiring> wired(const topology::Cluster& cluster, const Case& made) {
  return wire(algorithm("ring").plan(made.request), made.placement, cluster, {}, made.symmetry, 1);
}

TEST(Wiring, FoldedRingKeepsOneNodeOfLinksPerTwoNodes) {
  const topology::Cluster cluster = build({.nodes = 16, .gpus = 8});
  const Case made = ring_over(cluster, gpus(128));
  const auto wiring = wired(cluster, made);
  ASSERT_TRUE(wiring);
  EXPECT_TRUE(wiring->aside.empty());
  EXPECT_EQ(wiring->connections, 16u);
  EXPECT_LE(wiring->capacity.size(), 16u);
}

TEST(Wiring, EveryClassHasLinksOfOneRate) {
  const topology::Cluster cluster = build({.nodes = 6, .gpus = 4, .nics = 2, .fabric = "rail-fat-tree", .radix = 8});
  const auto wiring = wired(cluster, ring_over(cluster, gpus(24)));
  if (!wiring) GTEST_SKIP() << "no such symmetry";
  for (std::size_t resource = 0; resource < wiring->members.size(); ++resource) {
    for (const topology::LinkId link : wiring->members[resource]) {
      EXPECT_EQ(cluster.link_bandwidth(link), wiring->capacity[resource]);
    }
  }
}

TEST(Wiring, RefusesASymmetryThatThePlacementLacks) {
  const topology::Cluster cluster = build({.nodes = 4, .gpus = 4, .nics = 2});
  // Local GPUs 0, 1 and 2: two of them share a NIC, the third has one alone, so turning the node is no symmetry.
  Group group;
  for (std::uint32_t node = 0; node < 4; ++node) {
    for (std::uint32_t local = 0; local < 3; ++local) group.push_back(topology::GpuId{node * 4 + local});
  }
  Case made = ring_over(cluster, group);
  ASSERT_TRUE(made.symmetry.rotate);
  EXPECT_FALSE(wired(cluster, made));
  made.symmetry.rotate = false;  // shifting by nodes still is one
  made.request.fold = made.symmetry;
  EXPECT_TRUE(wired(cluster, made));
}

TEST(Wiring, HashedRoutesAreHeldToTheirLeastShare) {
  const topology::Cluster cluster =
      build({.nodes = 48, .gpus = 1, .fabric = "rail-fat-tree", .radix = 8, .routing = "hash"});
  const Group group = gpus(48);
  const GroupPlacement placement = place(cluster, std::span(&group, 1));
  Request request{.operation = Operation::all_to_all, .ranks = 48, .nodes = placement.nodes};
  request.fold = algorithm("direct").symmetry(request);
  const auto wiring = wire(algorithm("direct").plan(request), placement, cluster, {}, request.fold, 1);
  ASSERT_TRUE(wiring);
  EXPECT_FALSE(wiring->aside.empty());
  // Of the 47 distances 41 leave each leaf of four nodes with all four flows, of which two meet somewhere.
  std::uint32_t halved = 0;
  for (std::size_t route = 0; route < wiring->routes.size(); ++route)
    if (wiring->alone(route).value <= 12.5e9) ++halved;
  EXPECT_GE(halved, 41);
}

TEST(Wiring, ALinkAsideIsNotedOnceForAllImagesOfAFlow) {
  // All-to-all of 8 nodes of 8 over leaves of 4 rails: 63 flows stand for 64 each, which share few links.
  const topology::Cluster cluster = build({.nodes = 8, .gpus = 8, .fabric = "fat-tree", .radix = 8});
  const Group group = gpus(64);
  const GroupPlacement placement = place(cluster, std::span(&group, 1));
  Request request{.operation = Operation::all_to_all, .ranks = 64, .nodes = placement.nodes};
  request.fold = algorithm("direct").symmetry(request);
  const auto wiring = wire(algorithm("direct").plan(request), placement, cluster, {}, request.fold, 1);
  ASSERT_TRUE(wiring);
  ASSERT_FALSE(wiring->aside.empty());
  std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
  for (const Wiring::Aside& use : wiring->aside) {
    EXPECT_TRUE(seen.emplace(use.links, use.route).second);
  }
}

/// All that a wiring says, for comparison; what is aside link by link.
auto all_of(const Wiring& wiring) {
  std::vector<std::vector<double>> numbers;
  for (const auto& route : wiring.routes) {
    std::vector<double>& of = numbers.emplace_back();
    of = {static_cast<double>(route.latency.value), route.limit.value, route.weight};
    for (const sim::Use& use : route.uses) of.insert(of.end(), {1.0 * sim::index(use.resource), use.load});
  }
  std::set<std::tuple<topology::LinkId, std::uint32_t, double, double>> aside;
  for (const Wiring::Aside& use : wiring.aside)
    for (const topology::LinkId link : wiring.aside_links[use.links])
      EXPECT_TRUE(aside.emplace(link, use.route, use.load, use.share).second);
  return std::tuple(wiring.groups, wiring.connections, wiring.capacity, wiring.bandwidth, wiring.members, numbers,
                    wiring.binding, wiring.occupancy, aside);
}

TEST(Wiring, WaysByKindsOfNodesAreThoseThatEachPairHas) {
  struct Fabric {
    const char* kind;
    std::uint32_t radix;
    double oversubscription = 1;
  };
  // Leaves that nodes fill and do not fill, pods, no symmetry between nodes at all, and one between all.
  const Fabric fabrics[] = {{"one-switch", 64},   {"rail-fat-tree", 8},   {"rail-fat-tree", 4},
                            {"rail-only", 64},    {"fat-tree", 8},        {"fat-tree", 8, 2},
                            {"rail-fat-tree", 6}, {"dragonfly-plus", 16}, {"fat-tree", 12, 2}};
  int wired_by_kind = 0, aside = 0;
  for (const Fabric& fabric : fabrics)
    for (const std::uint32_t nodes : {8u, 11u})
      for (const std::uint32_t nics : {4u, 2u, 1u})
        for (const bool halves : {false, true}) {
          if (stepcast::test::kSanitized && (nodes == 8 || nics != 2)) continue;
          SCOPED_TRACE(std::string(fabric.kind) + " " + std::to_string(fabric.radix) + ", nodes " +
                       std::to_string(nodes) + ", NICs " + std::to_string(nics) + ", halves " + std::to_string(halves));
          const topology::Cluster cluster = build({.nodes = nodes,
                                                   .gpus = 4,
                                                   .nics = nics,
                                                   .fabric = fabric.kind,
                                                   .radix = fabric.radix,
                                                   .oversubscription = fabric.oversubscription,
                                                   .nvlink_latency = picoseconds(700),
                                                   .nic_latency = microseconds(1),
                                                   .switch_latency = picoseconds(300'000)});
          // All GPUs, or two groups of the same nodes.
          std::vector<Group> groups;
          for (std::uint32_t first = 0; first < (halves ? 2u : 1u); ++first) {
            Group& group = groups.emplace_back();
            for (std::uint32_t gpu = first; gpu < nodes * 4; gpu += halves ? 2 : 1)
              group.push_back(topology::GpuId{gpu});
          }
          const GroupPlacement placement = place(cluster, groups);
          for (const auto& [operation, name] :
               {std::pair(Operation::all_to_all, "direct"), std::pair(Operation::all_gather, "ring"),
                std::pair(Operation::all_to_all, "pairwise")}) {
            Request request = request_on(cluster, placement, operation, 4, {});
            const Symmetry most = algorithm(name).symmetry(request);
            for (const bool rotate : {true, false}) {
              request.fold = {most.period, most.rotate && rotate, most.row};
              const CollectivePlan plan = algorithm(name).plan(request);
              for (std::uint32_t stride = 1; stride <= groups.size(); ++stride) {
                const auto each = wire(plan, placement, cluster, {}, request.fold, stride, WaySearch::each),
                           by_kind =
                               wire(plan, placement, cluster, {}, request.fold, stride, WaySearch::by_kind_of_nodes);
                ASSERT_EQ(each.has_value(), by_kind.has_value());
                if (!each) continue;
                ASSERT_EQ(all_of(*each), all_of(*by_kind));
                ++wired_by_kind;
                aside += !each->aside.empty();
              }
            }
          }
        }
  EXPECT_GT(wired_by_kind, stepcast::test::kSanitized ? 100 : 200);
  EXPECT_GT(aside, 20);
}

TEST(Wiring, TheLeastLatencyOccupiesAndTheExcessOverlaps) {
  const topology::Cluster cluster = build({.nodes = 2, .gpus = 2});
  Case made = ring_over(cluster, gpus(4));
  made.symmetry = made.request.fold = {};
  const CollectivePlan plan = algorithm("ring").plan(made.request);
  const Transport transport{.nvlink_step = microseconds(2), .network_step = microseconds(9)};
  const auto wiring = wire(plan, made.placement, cluster, transport, {}, 1);
  ASSERT_TRUE(wiring);
  for (std::size_t c = 0; c < plan.connections.size(); ++c) {
    const Connection& way = plan.connections[c];
    const bool inside = index(way.source) / 2 == index(way.destination) / 2;
    EXPECT_EQ(wiring->routes.latency(c), microseconds(inside ? 2 : 9));
    EXPECT_EQ(wiring->ahead(c), inside ? Time{} : microseconds(7));
  }
  EXPECT_EQ(wiring->occupancy, microseconds(2));
}

/// The plan on every link of its ways, as it is before it is told which of them bind.
sim::TaskGraph on_every_link(const CollectivePlan& plan, const Wiring& wiring, const topology::Cluster& cluster,
                             const Group& group, std::uint32_t gpus) {
  std::map<topology::LinkId, sim::ResourceId> resources;
  sim::TaskGraph graph;
  for (std::uint32_t r = 0; r < wiring.capacity.size(); ++r) {
    graph.add_resource(wiring.capacity[r]);
    resources[wiring.members[r].front()] = sim::ResourceId{r};
  }
  std::vector<sim::RouteId> routes;
  std::vector<Time> ahead;
  for (const Connection& connection : plan.connections) {
    const topology::Path path = path_of(plan, connection, cluster, group, gpus);
    sim::Route route{.latency = wiring.occupancy};
    for (std::size_t i = 0; i < path.links.size(); ++i)
      route.uses.push_back({resources.at(path.links[i]), path.loads[i]});
    ahead.push_back(wiring.ahead(routes.size()));
    routes.push_back(graph.add_route(route));
  }
  add_group(plan, {routes, ahead}, std::nullopt, graph);
  return graph;
}

/// When each transfer ends, whichever other tasks there are.
std::vector<Time> ends_of_transfers(const sim::TaskGraph& graph, const sim::Timeline& timeline) {
  std::vector<Time> ends;
  for (std::size_t task = 0; task < graph.tasks().size(); ++task)
    if (graph.tasks()[task].route != sim::TaskGraph::kNoRoute) ends.push_back(timeline.finish[task]);
  return ends;
}

TEST(Wiring, WhatNeverBindsChangesNoTimeAndCarriesTheSame) {
  int never = 0;
  for (const char* fabric : {"one-switch", "fat-tree", "rail-fat-tree"})
    for (const std::uint32_t nics : {4u, 2u})
      for (const char* name : {"direct", "pairwise", "hierarchical"}) {
        SCOPED_TRACE(std::string(fabric) + " " + std::to_string(nics) + " " + name);
        const topology::Cluster cluster =
            build({.nodes = 5, .gpus = 4, .nics = nics, .fabric = fabric, .radix = 8, .oversubscription = 2});
        const Group group = gpus(20);
        const GroupPlacement placement = place(cluster, std::span(&group, 1));
        Request request = request_on(cluster, placement, Operation::all_to_all, 4, {});
        request.elements = 20'000'003;
        const CollectivePlan plan = algorithm(name).plan(request);
        const Wiring wiring =
            *wire(plan, placement, cluster,
                  {.nvlink_step = microseconds(1), .network_step = microseconds(3), .network_efficiency = 0.9}, {}, 1);
        for (std::uint32_t r = 0; r < wiring.binding.size(); ++r) never += wiring.binding[r] != r;
        const sim::TaskGraph few = lower(plan, wiring),
                             all = on_every_link(plan, wiring, cluster, group, request.gpus());
        const sim::Timeline of_few = sim::run(few), of_all = sim::run(all);
        EXPECT_EQ(ends_of_transfers(few, of_few), ends_of_transfers(all, of_all));
        std::vector<double> carried = of_few.carried;
        wiring.spread(carried);
        EXPECT_EQ(carried, of_all.carried);
      }
  EXPECT_GT(never, 500);
}

TEST(Lower, RunsAConnectionsTransfersOneAfterTheOther) {
  const topology::Cluster cluster = build({.nodes = 2, .gpus = 1});
  const Group group = gpus(2);
  CollectivePlan plan;
  plan.ranks = 2;
  const ConnectionId way = plan.connect(0, 1, 0);
  for (int i = 0; i < 3; ++i) plan.add({way, plan.add_chunk({0, 25'000}), Effect::copy});
  const GroupPlacement placement = place(cluster, std::span(&group, 1));
  const auto wiring = wire(plan, placement, cluster, {.network_step = microseconds(3)}, {}, 1);
  ASSERT_TRUE(wiring);
  const sim::Timeline timeline = sim::run(lower(plan, *wiring));
  EXPECT_EQ(timeline.end, (microseconds(3) + microseconds(1)) * 3);
  EXPECT_THAT(timeline.finish, testing::ElementsAre(microseconds(4), microseconds(8), microseconds(12)));
}

}  // namespace
}  // namespace stepcast::collectives
