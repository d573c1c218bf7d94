#include "collectives/search/packing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "collectives/algorithms.h"
#include "collectives/execute.h"
#include "collectives/search/packing_program.h"
#include "collectives/search/ring_search.h"
#include "collectives/search/view_links.h"
#include "collectives/timing/lower.h"
#include "collectives/timing/wiring.h"
#include "sim/executor.h"
#include "tests/collectives/definition.h"
#include "tests/collectives/fixtures.h"
#include "tests/collectives/islands.h"
#include "tests/sanitized.h"

namespace stepcast::collectives {
namespace {

using test::dgx1_v100;
using test::full_quad;
using test::gpus;
using test::island;
using test::kLink;

struct Outcome {
  double seconds = 0;
  std::size_t links = 0;  ///< directions of NVLinks that carry anything
};

Request request_on(const topology::Cluster& cluster, const Group& group, Operation operation, std::int64_t bytes,
                   std::uint32_t pieces) {
  return {.operation = operation,
          .ranks = static_cast<std::uint32_t>(group.size()),
          .elements = bytes,
          .pieces = pieces,
          .links = view_links(cluster, group)};
}

Outcome run(const topology::Cluster& cluster, const Group& group, std::string_view name, Operation operation,
            std::int64_t bytes, std::uint32_t pieces = 1) {
  const CollectivePlan plan = algorithm(name).plan(request_on(cluster, group, operation, bytes, pieces));
  const auto wiring = wire(plan, place(cluster, std::span(&group, 1)), cluster, {}, {}, 1);
  const sim::Timeline timeline = sim::run(lower(plan, *wiring));
  Outcome outcome{to_seconds(timeline.end), 0};
  for (std::size_t r = 0; r < wiring->members.size(); ++r) {
    for (const topology::LinkId link : wiring->members[r]) {
      outcome.links +=
          timeline.carried[wiring->binding[r]] > 0 && cluster.link(link).kind == topology::LinkKind::nvlink ? 1u : 0u;
    }
  }
  return outcome;
}

double total_rate(const std::vector<PackedTree>& packed) {
  return std::accumulate(packed.begin(), packed.end(), 0.0,
                         [](double sum, const PackedTree& tree) { return sum + tree.rate; });
}

TEST(PackingProgram, FindsTheBestCorner) {
  // x + 2 y <= 4, 3 x + y <= 6: best at (1.6, 1.2).
  const std::vector<double> x = best_packing({{1, 3}, {2, 1}}, {4, 6});
  EXPECT_NEAR(x[0], 1.6, 1e-9);
  EXPECT_NEAR(x[1], 1.2, 1e-9);
}

// Blink, section 2: on four fully connected GPUs NCCL has two rings, which leave links idle; three trees use all.
TEST(TreePacking, HasThreeTreesWhereRingsAreTwo) {
  const topology::Cluster cluster = island(4, full_quad());
  const LinkView view = view_links(cluster, gpus(4));
  EXPECT_EQ(edge_disjoint_rings(view).size(), 2u);
  const std::vector<PackedTree> packed = pack_trees(view, TreeFlow::down);
  EXPECT_EQ(packed.size(), 3u);
  for (const PackedTree& tree : packed) EXPECT_NEAR(tree.rate, kLink, 1e-3 * kLink);
}

// Blink, section 2.3: a broadcast of g takes g / (2 BW) over two rings and g / (3 BW) over three trees.
TEST(TreePacking, BroadcastsAtThreeLinksWhereRingsDoAtTwo) {
  const topology::Cluster cluster = island(4, full_quad());
  const std::int64_t g = 600'000'000;
  const double whole = static_cast<double>(g) / kLink;
  EXPECT_NEAR(run(cluster, gpus(4), "multi-ring", Operation::broadcast, g, 300).seconds / whole, 1.0 / 2, 0.01);
  EXPECT_NEAR(run(cluster, gpus(4), "tree-packing", Operation::broadcast, g, 300).seconds / whole, 1.0 / 3, 0.01);
  EXPECT_NEAR(run(cluster, gpus(4), "tree-packing", Operation::reduce, g, 300).seconds / whole, 1.0 / 3, 0.01);
}

TEST(TreePacking, LeavesNoLinkIdleWhereARingLeavesTwo) {
  const topology::Cluster cluster = island(4, full_quad());
  // Six links, both directions of each.
  EXPECT_EQ(run(cluster, gpus(4), "multi-ring", Operation::all_reduce, 1 << 20).links, 2u * 4);
  const Outcome trees = run(cluster, gpus(4), "tree-packing", Operation::all_reduce, 600'000'000, 300);
  EXPECT_EQ(trees.links, 2u * 6);
  EXPECT_LE(run(cluster, gpus(4), "ring", Operation::all_reduce, 1 << 20).links, 4u);
  // Two edge-disjoint trees' worth (Nash-Williams): 6 links / 3 edges; no all-reduce is faster: 2 (P-1)/P g / (3 BW).
  EXPECT_NEAR(trees.seconds, 600e6 / (2 * kLink), 0.02 * 600e6 / (2 * kLink));
}

TEST(MultiRing, UsesAllLinksOfADgx1WithV100) {
  const topology::Cluster cluster = island(8, dgx1_v100());
  const auto rings = edge_disjoint_rings(view_links(cluster, gpus(8)));
  EXPECT_EQ(rings.size(), 6u);  // three each way: six links per GPU
  // 2 (P - 1) / P n over six links.
  const double seconds = run(cluster, gpus(8), "multi-ring", Operation::all_reduce, 480'000'000).seconds;
  EXPECT_NEAR(seconds, 2 * 7.0 / 8 * 480e6 / (6 * kLink), 1e-3 * seconds);
}

TEST(MultiRing, SharesNoDirectionOfALink) {
  for (const auto& [count, wires] : {std::pair{4u, full_quad()}, {8u, dgx1_v100()}, {9u, test::torus(3, 3)}}) {
    const topology::Cluster cluster = island(count, wires);
    const LinkView view = view_links(cluster, gpus(count));
    std::vector<std::uint32_t> used(std::size_t{count} * count);
    for (const auto& ring : edge_disjoint_rings(view)) {
      EXPECT_EQ(std::set<std::uint32_t>(ring.begin(), ring.end()).size(), count);
      for (std::size_t i = 0; i < ring.size(); ++i) ++used[ring[i] * count + ring[(i + 1) % count]];
    }
    for (std::size_t way = 0; way < used.size(); ++way) EXPECT_LE(used[way], view.nvlinks[way]);
  }
}

TEST(MultiRing, NeedsARing) {
  const topology::Cluster cluster = island(4, {{0, 1}, {1, 2}, {2, 3}});  // a line
  const Request request = request_on(cluster, gpus(4), Operation::all_reduce, 64, 1);
  EXPECT_FALSE(algorithm("multi-ring").supports(request));
  EXPECT_TRUE(algorithm("tree-packing").supports(request));
}

TEST(TreePacking, NoLinkIsTooNarrowForItsTrees) {
  for (const TreeFlow flow : {TreeFlow::down, TreeFlow::up, TreeFlow::up_and_down}) {
    for (const auto& [count, wires] :
         {std::pair{4u, full_quad()}, {8u, dgx1_v100()}, {4u, std::vector<test::Wire>{{0, 1}, {1, 2}}}, {3u, {}}}) {
      const topology::Cluster cluster = island(count, wires);
      const LinkView view = view_links(cluster, gpus(count));
      std::vector<double> load(view.capacity.size());
      for (const PackedTree& packed : pack_trees(view, flow)) {
        for (std::uint32_t rank = 0; rank < count; ++rank) {
          if (packed.tree[rank] == kNoParent) continue;
          if (flow != TreeFlow::up) {
            for (const auto& hop : view.way(packed.tree[rank], rank)) load[hop.link] += hop.load * packed.rate;
          }
          if (flow != TreeFlow::down) {
            for (const auto& hop : view.way(rank, packed.tree[rank])) load[hop.link] += hop.load * packed.rate;
          }
        }
      }
      for (std::size_t l = 0; l < load.size(); ++l) EXPECT_LE(load[l], view.capacity[l] * (1 + 1e-6));
    }
  }
}

// Many links alike, where Bland's rule alone takes steps beyond counting.
TEST(TreePacking, EndsOnASparseMeshOf17Gpus) {
  std::vector<test::Wire> wires;
  for (std::uint32_t a = 0; a < 17; ++a) {
    for (std::uint32_t apart = 1; apart <= 3; ++apart) wires.push_back({a, (a + apart) % 17});
  }
  const LinkView view = view_links(island(17, wires), gpus(17));
  EXPECT_GE(total_rate(pack_trees(view, TreeFlow::down)), 0.9 * 6 * kLink);
}

// A broadcast reaches the least cut from its root (Edmonds 1973): six links out of a GPU of a DGX-1 with V100.
TEST(TreePacking, ReachesTheLeastCut) {
  const LinkView view = view_links(island(8, dgx1_v100()), gpus(8));
  EXPECT_GE(total_rate(pack_trees(view, TreeFlow::down)), 0.9 * 6 * kLink);
  // An all-reduce by undirected trees: 24 links / 7 edges.
  EXPECT_GE(total_rate(pack_trees(view, TreeFlow::up_and_down)), 0.9 * 24.0 / 7 * kLink);
  EXPECT_LE(pack_trees(view, TreeFlow::up_and_down).size(), 12u);
}

TEST(TreePacking, WorksOverASwitch) {
  const topology::Cluster cluster = test::build({.nodes = 1, .gpus = 8});
  const LinkView view = view_links(cluster, gpus(8));
  EXPECT_GE(total_rate(pack_trees(view, TreeFlow::up_and_down)), 0.9 * 100e9 * 8 / 14);  // n 2 (P - 1) / P per port
}

// Subsets of a DGX-1 that rings do not fit: trees use the NVLinks that there are.
TEST(TreePacking, PlansAreRightOnAnySubset) {
  const topology::Cluster cluster = island(8, dgx1_v100());
  for (std::uint32_t mask = 1; mask < 256; mask += stepcast::test::kSanitized ? 15 : 3) {
    Group group;
    for (std::uint32_t g = 0; g < 8; ++g) {
      if (mask >> g & 1u) group.push_back(topology::GpuId{g});
    }
    if (group.size() < 2) continue;
    for (const char* name : {"multi-ring", "tree-packing", "pcie-nvlink-split"}) {
      for (const Operation operation : kOperations) {
        for (const std::int64_t elements : {0, 1, 41}) {
          const Request request = request_on(cluster, group, operation, elements, 3);
          if (!algorithm(name).supports(request)) continue;
          const CollectivePlan plan = algorithm(name).plan(request);
          for (const TransferOrder turn : {TransferOrder::first_ready_first, TransferOrder::last_ready_first}) {
            test::Buffers buffers = test::before(request);
            execute(plan, buffers, turn);
            EXPECT_EQ(test::wrong(request, buffers), "") << name << " " << mask;
          }
        }
      }
    }
  }
}

// PCIe share 1 / (1 + R): both parts end together, in R / (1 + R) of the time over NVLink alone.
TEST(PcieNvlinkSplit, DividesTheDataByTheRates) {
  const topology::Cluster cluster = island(4, full_quad());
  const std::int64_t bytes = 600'000'000;
  const double ratio = 2 * kLink / test::kPcie;
  const double both = run(cluster, gpus(4), "pcie-nvlink-split", Operation::all_reduce, bytes).seconds;
  const double alone = run(cluster, gpus(4), "multi-ring", Operation::all_reduce, bytes).seconds;
  EXPECT_NEAR(both / alone, ratio / (1 + ratio), 1e-6);
  const Request request = request_on(cluster, gpus(4), Operation::all_reduce, bytes, 1);
  const CollectivePlan plan = algorithm("pcie-nvlink-split").plan(request);
  double over_pcie = 0, total = 0;
  for (const Transfer& transfer : plan.transfers) {
    const auto elements = static_cast<double>(plan.elements(transfer.chunk));
    total += elements;
    if (plan.connections[index(transfer.connection)].host_side) over_pcie += elements;
  }
  EXPECT_NEAR(over_pcie / total, 1 / (1 + ratio), 1e-6);
}

TEST(PcieNvlinkSplit, NeedsBothKindsOfLinks) {
  const auto supports = [](const topology::Cluster& cluster, std::uint32_t ranks) {
    return algorithm("pcie-nvlink-split").supports(request_on(cluster, gpus(ranks), Operation::all_reduce, 64, 1));
  };
  EXPECT_FALSE(supports(island(4, {}), 4));
  EXPECT_TRUE(supports(test::build({.nodes = 1, .gpus = 4}), 4));  // NVSwitch
}

// (w h - 1) / (w h) n over four links, twice for an all-reduce: the least that any must send, on a square torus.
TEST(Torus2d, UsesAllLinksOfATorusBothWays) {
  const std::uint32_t side = 4, p = side * side;
  const topology::Cluster cluster = island(p, test::torus(side, side));
  const std::int64_t bytes = 64'000'000;
  for (const Operation operation : {Operation::all_reduce, Operation::all_gather, Operation::reduce_scatter}) {
    const double times = operation == Operation::all_reduce ? 2 : 1;
    const Outcome outcome = run(cluster, gpus(p), "torus-2d", operation, bytes);
    EXPECT_NEAR(outcome.seconds, times * (p - 1) / p * static_cast<double>(bytes) / (4 * kLink),
                1e-6 * outcome.seconds);
    EXPECT_EQ(outcome.links, 4 * p);
  }
}

}  // namespace
}  // namespace stepcast::collectives
