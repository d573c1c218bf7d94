#include "collectives/search/chains.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "collectives/algorithms.h"
#include "collectives/execute.h"
#include "collectives/search/view_links.h"
#include "collectives/timing/placement.h"
#include "collectives/timing/timer.h"
#include "sim/input_error.h"
#include "tests/collectives/definition.h"
#include "tests/collectives/fixtures.h"
#include "tests/collectives/islands.h"
#include "tests/sanitized.h"

namespace stepcast::collectives {
namespace {

using test::dgx1_v100;
using test::gpus;
using test::island;
using test::kLink;
using test::kPcie;
using test::Wire;

std::vector<Wire> complete(std::uint32_t n, std::uint32_t links = 1) {
  std::vector<Wire> wires;
  for (std::uint32_t a = 0; a < n; ++a) {
    for (std::uint32_t b = a + 1; b < n; ++b) wires.push_back({a, b, links});
  }
  return wires;
}

std::vector<Chain> chains_found(const topology::Cluster& cluster, std::span<const topology::GpuId> group,
                                std::uint32_t nodes) {
  ChainSearches searches;
  return found_chains(cluster, group, nodes, searches);
}

double total(const LinkView& view, const std::vector<Chain>& chains) {
  return rate_of(view, chains) * static_cast<double>(chains.size());
}

/// Eight GPUs as in DGX-1 with V100, a NIC for each two, which share a PCIe switch with it.
topology::Cluster cube_meshes(std::uint32_t nodes) {
  const topology::LinkType nvlink{
      .name = "nvlink", .kind = topology::LinkKind::nvlink, .bandwidth = {20e9}, .latency = {}, .source = {}};
  const topology::LinkType pcie{
      .name = "pcie", .kind = topology::LinkKind::pcie, .bandwidth = {12e9}, .latency = {}, .source = {}};
  const topology::LinkType socket{
      .name = "socket", .kind = topology::LinkKind::socket, .bandwidth = {9e9}, .latency = {}, .source = {}};
  const topology::LinkType nic{
      .name = "nic", .kind = topology::LinkKind::network, .bandwidth = {10e9}, .latency = {}, .source = {}};
  topology::NodeSpec node;
  node.name = "cube-mesh";
  node.builder = "mesh";
  node.gpus = 8;
  node.nics = 4;
  node.nvlink_pairs =
      "0-1, 0-2, 0-3 x2, 0-4 x2, 1-2 x2, 1-3, 1-5 x2, 2-3 x2, 2-6, 3-7, 4-5, 4-6, 4-7 x2, 5-6 x2, 5-7, 6-7 x2";
  node.nvlink = nvlink;
  node.pcie = pcie;
  node.socket_link = socket;
  node.nic = nic;
  return topology::build_cluster(node, {}, 8 * nodes);
}

TEST(ChainSearch, FillsEveryLinkOfCompleteGraphs) {
  for (std::uint32_t n = 3; n <= 8; ++n) {
    for (const std::uint32_t links : {1u, 2u, 4u}) {
      const LinkView view = view_links(island(n, complete(n, links)), gpus(n));
      EXPECT_NEAR(total(view, best_chains(view)), (n - 1) * links * kLink, 1) << n << " GPUs, " << links << " links";
    }
  }
}

TEST(ChainSearch, SplitsABundleOfLinksOverSeveralRings) {
  const LinkView view = view_links(island(4, complete(4, 4)), gpus(4));
  const std::vector<Chain> rings = best_chains(view);
  EXPECT_EQ(rings.size(), 6u);  // of two links each: twelve rings of one
  EXPECT_NEAR(rate_of(view, rings), 2 * kLink, 1);
}

TEST(ChainSearch, FindsTheSixRingsOfADgx1) {
  const LinkView view = view_links(island(8, dgx1_v100()), gpus(8));
  const std::vector<Chain> rings = best_chains(view);
  EXPECT_EQ(rings.size(), 6u);
  EXPECT_NEAR(rate_of(view, rings), kLink, 1);
}

TEST(ChainSearch, TakesPcieWhereNvlinkClosesNoRing) {
  const LinkView view = view_links(island(4, {{0, 1}, {2, 3}}), gpus(4));
  const std::vector<Chain> rings = best_chains(view);
  ASSERT_EQ(rings.size(), 2u);  // one each way: PCIe carries every other step only
  EXPECT_NEAR(rate_of(view, rings), kPcie, 1);
  const LinkView bare = view_links(island(4, {}), gpus(4));
  EXPECT_NEAR(total(bare, best_chains(bare)), kPcie, 1);
}

TEST(ChainSearch, CrossesTheSocketLinkOnceEachWay) {
  // GPUs numbered in turns over two sockets: in order every step crosses.
  const topology::LinkType pcie{
      .name = "pcie", .kind = topology::LinkKind::pcie, .bandwidth = {12e9}, .latency = {}, .source = {}};
  topology::NodeSpec node;
  node.name = "two sockets";
  node.builder = "graph";
  node.gpus = 6;
  topology::LinkType socket = pcie;
  socket.kind = topology::LinkKind::socket;
  node.devices = {{"cpu0", "cpu"}, {"cpu1", "cpu"}};
  node.links.push_back({"cpu0", "cpu1", socket, 1});
  for (std::uint32_t g = 0; g < 6; ++g) {
    node.devices.push_back({"gpu" + std::to_string(g), "gpu"});
    node.links.push_back({"gpu" + std::to_string(g), g % 2 == 0 ? "cpu0" : "cpu1", pcie, 1});
  }
  const topology::Cluster cluster = topology::build_cluster(node, {}, 6);
  const std::vector<Chain> rings = chains_found(cluster, gpus(6), 1);
  ASSERT_EQ(rings.size(), 1u);
  int crossings = 0;
  for (std::size_t i = 0; i < 6; ++i) crossings += rings[0][i] % 2 != rings[0][(i + 1) % 6] % 2;
  EXPECT_EQ(crossings, 2);
}

TEST(FoundChains, AreNoneBehindSwitchesAndWhereTheOrderOfTheIndicesIsAsFast) {
  EXPECT_TRUE(chains_found(test::build({.nodes = 1}), gpus(8), 1).empty());
  EXPECT_TRUE(chains_found(test::build({.nodes = 4}), gpus(32), 4).empty());
  EXPECT_TRUE(chains_found(test::build({.nodes = 4, .nics = 4}), gpus(32), 4).empty());
  EXPECT_TRUE(chains_found(cube_meshes(4), gpus(4, 0, 8), 4).empty());
}

TEST(FoundChains, UseAllAdaptersBothWaysInACubeMesh) {
  const topology::Cluster cluster = cube_meshes(4);
  const std::vector<Chain> chains = chains_found(cluster, gpus(32), 4);
  ASSERT_EQ(chains.size(), 4u);
  std::vector<int> in(4), out(4);
  for (const Chain& chain : chains) {
    ++in[chain.front() / 2], ++out[chain.back() / 2];  // GPUs 2 i and 2 i + 1 use NIC i
    for (std::size_t i = 0; i + 1 < chain.size(); ++i) {
      const topology::Path path = cluster.path(topology::GpuId{chain[i]}, topology::GpuId{chain[i + 1]});
      EXPECT_EQ(path.kind, topology::PathKind::nvlink);
    }
  }
  EXPECT_THAT(in, testing::Each(1));
  EXPECT_THAT(out, testing::Each(1));
}

TEST(FoundChains, VisitEveryRankOnceOnRandomPartialAllocations) {
  std::mt19937 random(7);
  for (int draw = 0; draw < 30; ++draw) {
    std::vector<topology::GpuId> group;
    const topology::Cluster cluster = cube_meshes(3);
    for (std::uint32_t gpu = 0; gpu < 24; ++gpu) {
      if (random() % 2 == 0) group.push_back(topology::GpuId{gpu});
    }
    const GroupPlacement placement = place(cluster, std::span(&group, 1));
    for (const Chain& chain : chains_found(cluster, group, placement.nodes)) {
      Chain sorted = chain, all(placement.ranks / placement.nodes);
      std::iota(all.begin(), all.end(), 0u);
      std::ranges::sort(sorted);
      EXPECT_EQ(sorted, all) << "draw " << draw;
    }
  }
}

TEST(FoundChains, UseEveryAdapterOfUnevenNodes) {
  // 8, 8 and 4 GPUs of machines with an adapter per GPU: eight rings, not one.
  const topology::Cluster cluster = test::build({.nodes = 3});
  Group group = gpus(20);
  const std::vector<Chain> chains = chains_found(cluster, group, 1);
  EXPECT_EQ(chains.size(), 8u);
  Timer timer(cluster, {});
  const double bytes = 1e9,
               seconds = to_seconds(timer.time(Operation::all_reduce, {1'000'000'000}, {&group, 1}, "ring").duration);
  // The node of four has the narrowest way out: 4 x 25 GB/s.
  EXPECT_NEAR(bytes * 2 * 19 / 20 / seconds, 4 * 25e9, 4 * 25e9 * 0.05);
}

/// The GPUs of every node see one view but for the names of its links, which is searched once.
TEST(ChainSearches, AreOneForAllNodesThatAreAlike) {
  const topology::Cluster cluster = cube_meshes(4);
  const auto view = [&](std::uint32_t node) {
    const Group here = gpus(8, 8 * node), there = gpus(8, 8 * ((node + 1) % 4));
    return view_node(cluster, here, there);
  };
  ChainSearches searches;
  const std::vector<Chain> first = searches.best(view(0)), at = searches.at(view(0), 10e9, true, 4);
  EXPECT_EQ(first, best_chains(view(0)));
  EXPECT_EQ(at, chains_at(view(0), 10e9, true, 4));
  const std::size_t bytes = searches.bytes();
  for (std::uint32_t node = 1; node < 4; ++node) {
    EXPECT_EQ(searches.best(view(node)), first);
    EXPECT_EQ(searches.at(view(node), 10e9, true, 4), at);
  }
  EXPECT_EQ(searches.bytes(), bytes);
  EXPECT_EQ(searches.at(view(0), 10e9, true, 2), chains_at(view(0), 10e9, true, 2));
  EXPECT_GT(searches.bytes(), bytes);
}

/// Behind NVSwitches too: 4 chains over 3 adapters would have one of them carry two.
TEST(FoundChains, AreNoMoreThanTheAdaptersOfTheSmallerNode) {
  const topology::Cluster cluster = test::build({.nodes = 2, .gpus = 4});
  Timer timer(cluster, {});
  const Bytes bytes{std::int64_t{7} << 28};
  const double seconds = to_seconds(test::one(timer, Operation::all_gather, bytes, gpus(7), "ring").duration);
  // Three rings at the rate of an adapter, each of 6 steps of a seventh.
  EXPECT_NEAR(seconds, static_cast<double>(bytes.value) * 6 / 7 / (3 * 25e9), 0.02 * seconds);
}

TEST(FoundChains, MakeAutoAtLeastAsFastAsEdgeDisjointRings) {
  // Every allocation of three to eight GPUs of a cube mesh.
  const topology::Cluster cluster = cube_meshes(1);
  for (std::uint32_t set = 0; set < 256; set += stepcast::test::kSanitized ? 7 : 1) {
    Group group;
    for (std::uint32_t gpu = 0; gpu < 8; ++gpu) {
      if ((set >> gpu & 1) != 0) group.push_back(topology::GpuId{gpu});
    }
    if (group.size() < 3) continue;
    Timer timer(cluster, {});
    const Time automatic = timer.time(Operation::all_reduce, {100'000'000}, {&group, 1}).duration;
    Time rings{};
    try {
      rings = timer.time(Operation::all_reduce, {100'000'000}, {&group, 1}, "multi-ring").duration;
    } catch (const InputError&) {
      continue;  // no ring of NVLinks
    }
    EXPECT_LE(to_seconds(automatic), to_seconds(rings) * 1.001) << "GPUs " << set;
  }
}

TEST(FoundChains, CarryRingsAndTreesThatReduceCorrectly) {
  std::mt19937 random(11);
  int cases = 0;
  for (const char* name : {"ring", "tree", "double-binary-tree"}) {
    for (const Operation operation : {Operation::all_reduce, Operation::all_gather, Operation::reduce_scatter,
                                      Operation::broadcast, Operation::reduce}) {
      for (const auto& [nodes, gpus] : {std::pair{1u, 3u}, {1u, 8u}, {2u, 4u}, {3u, 5u}, {4u, 8u}}) {
        Request request{.operation = operation, .ranks = nodes * gpus, .elements = 1003, .nodes = nodes, .pieces = 3};
        request.channels = 5;
        for (std::uint32_t k = 0; k < request.channels; ++k) {
          request.chains.emplace_back(gpus);
          std::iota(request.chains.back().begin(), request.chains.back().end(), 0u);
          std::ranges::shuffle(request.chains.back(), random);
        }
        if (!algorithm(name).supports(request)) continue;
        test::Buffers buffers = test::before(request);
        execute(algorithm(name).plan(request), buffers, TransferOrder::last_ready_first);
        EXPECT_EQ(test::wrong(request, buffers), "") << name << ' ' << nodes << 'x' << gpus;
        ++cases;
      }
    }
  }
  EXPECT_GE(cases, 40);
}

/// Eight dies as in a node of Frontier: those with even numbers are joined in the ring 0 2 4 6, the others in 1 3 7 5.
topology::Cluster frontier() {
  return island(8, {{0, 1, 4},
                    {2, 3, 4},
                    {4, 5, 4},
                    {6, 7, 4},
                    {0, 6, 2},
                    {2, 4, 2},
                    {0, 2},
                    {4, 6},
                    {1, 3},
                    {1, 5},
                    {3, 7},
                    {5, 7}});
}
const std::vector<Group> kEvenAndOdd{{topology::GpuId{0}, topology::GpuId{2}, topology::GpuId{4}, topology::GpuId{6}},
                                     {topology::GpuId{1}, topology::GpuId{3}, topology::GpuId{5}, topology::GpuId{7}}};

TEST(FoundChains, OfOneGroupAreWalkedByItsSiblingsAlongLinksOfTheirOwn) {
  const topology::Cluster cluster = frontier();
  Timer timer(cluster, {.nvlink_step = microseconds(2)});
  for (const Operation operation : {Operation::all_reduce, Operation::all_gather, Operation::reduce_scatter}) {
    const Bytes bytes{64'000'000};
    const Time alone = timer.time(operation, bytes, {&kEvenAndOdd[0], 1}, "ring").duration;
    EXPECT_EQ(alone, timer.time(operation, bytes, {&kEvenAndOdd[1], 1}, "ring").duration);
    EXPECT_EQ(alone, timer.time(operation, bytes, kEvenAndOdd, "ring").duration);  // they share no link
    EXPECT_EQ(alone, timer.time(operation, bytes, kEvenAndOdd, "ring", false).duration);
  }
}

TEST(FoundChains, OfSeveralGroupsDoNotDependOnWhichIsFirst) {
  const topology::Cluster cluster = frontier();
  const std::vector<Group> turned{kEvenAndOdd[1], kEvenAndOdd[0]};
  Timer one(cluster, {}), other(cluster, {});
  const auto loads_of = [&](Timer& timer, std::span<const Group> groups, std::uint32_t own) {
    std::vector<double> loads(cluster.links());
    const Details details{.own = own};
    for (const Timing::Load& load :
         timer.time(Operation::all_gather, {64'000'000}, groups, "auto", own == 0, details).loads) {
      loads[topology::index(load.link)] += load.bytes;
    }
    return loads;
  };
  const std::vector<double> both = loads_of(one, kEvenAndOdd, 0), even = loads_of(one, kEvenAndOdd, 1),
                            odd = loads_of(other, turned, 1);
  EXPECT_EQ(both, loads_of(other, turned, 0));
  double total = 0;
  for (std::size_t link = 0; link < both.size(); ++link) {
    EXPECT_DOUBLE_EQ(both[link], even[link] + odd[link]) << link;
    EXPECT_TRUE(even[link] == 0 || odd[link] == 0) << link;
    total += both[link];
  }
  EXPECT_GT(total, 0);
}

TEST(FoundChains, OwnLoadsAreNotAskedOfGroupsThatStandForEachOther) {
  Timer timer(frontier(), {});
  EXPECT_THROW(timer.time(Operation::all_gather, {1}, kEvenAndOdd, "auto", true, {.own = 1}), std::logic_error);
}

TEST(FoundChains, FoldedTimesAreThoseOfTheWhole) {
  const topology::Cluster cluster = cube_meshes(4);
  const Group group = gpus(32);
  for (const char* name : {"ring", "double-binary-tree"}) {
    Timer folded(cluster, {.nvlink_step = microseconds(2), .network_step = microseconds(5)}),
        whole(cluster, {.nvlink_step = microseconds(2), .network_step = microseconds(5)});
    const Bytes bytes{32 * 4 * 100'000};
    EXPECT_EQ(folded.time(Operation::all_reduce, bytes, {&group, 1}, name, true).duration,
              whole.time(Operation::all_reduce, bytes, {&group, 1}, name, false).duration)
        << name;
  }
}

}  // namespace
}  // namespace stepcast::collectives
