// What every fabric owes, and what sets each apart.

#include "topology/fabrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "sim/input_error.h"
#include "tests/sanitized.h"
#include "tests/topology/machines.h"
#include "topology/fabrics/clos.h"
#include "topology/random_pick.h"

namespace stepcast::topology {
namespace {

FabricSpec fabric(const char* kind, std::uint32_t radix, const char* routing = "adaptive", double over = 1) {
  FabricSpec spec = rail_fabric(radix, routing, over);
  spec.name = "fabric";
  spec.kind = kind;
  return spec;
}
FabricSpec torus(const char* sides, const char* routing = "adaptive") {
  FabricSpec spec = fabric("torus", 8, routing);
  spec.torus = sides;
  return spec;
}
FabricSpec levels(FabricSpec spec, std::uint32_t count) {
  spec.levels = count;
  return spec;
}
FabricSpec groups(FabricSpec spec, std::uint32_t count) {
  spec.groups = count;
  return spec;
}

struct Case {
  const char* name;
  FabricSpec fabric;
  std::uint32_t nodes, nics;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class EveryFabric : public testing::TestWithParam<Case> {
 protected:
  FabricRequest request_{GetParam().fabric, GetParam().nodes, GetParam().nics, Bandwidth{10e9}};
  std::unique_ptr<const Fabric> fabric_ = build_fabric(request_);
};

INSTANTIATE_TEST_SUITE_P(
    Fabrics, EveryFabric,
    testing::Values(Case{"one_switch", fabric("one-switch", 2), 9, 3},
                    Case{"fat_tree_one_level", fabric("fat-tree", 16), 8, 2},
                    Case{"fat_tree_two_levels", fabric("fat-tree", 8), 16, 2},
                    Case{"fat_tree_two_levels_hashed", fabric("fat-tree", 8, "hash"), 16, 2},
                    Case{"fat_tree_three_levels_hashed", fabric("fat-tree", 4, "hash"), 11, 1},
                    Case{"fat_tree_five_levels_hashed", levels(fabric("fat-tree", 4, "hash"), 5), 27, 2},
                    Case{"fat_tree_five_levels", levels(fabric("fat-tree", 4), 5), 27, 2},
                    Case{"fat_tree_oversubscribed", fabric("fat-tree", 8, "hash", 3), 20, 1},
                    Case{"rail_only", fabric("rail-only", 8, "hash"), 20, 4},
                    Case{"rail_only_adaptive", fabric("rail-only", 8), 20, 4},
                    Case{"dragonfly_one_group", fabric("dragonfly-plus", 8, "hash"), 8, 1},
                    Case{"dragonfly_nine_groups", fabric("dragonfly-plus", 8, "hash"), 140, 1},
                    Case{"dragonfly_adaptive", fabric("dragonfly-plus", 8), 140, 1},
                    Case{"dragonfly_spread", groups(fabric("dragonfly-plus", 16, "hash"), 5), 20, 4},
                    Case{"torus_2d", torus("4x5"), 20, 1}, Case{"torus_2d_hashed", torus("4x5", "hash"), 18, 2},
                    Case{"torus_3d", torus("3x2x4", "hash"), 24, 1}, Case{"torus_line", torus("1x6"), 6, 1}),
    [](const auto& suite) { return std::string(suite.param.name); });

TEST_P(EveryFabric, LeadsFromEverySwitchOfANicToEveryOther) {
  for (std::uint32_t a = 0; a < request_.nodes; ++a) {
    for (std::uint32_t b = 0; b < request_.nodes; ++b) {
      for (std::uint32_t nic = 0; nic < request_.nics_per_node; ++nic) {
        const std::uint32_t from = fabric_->switch_of(a, nic), to = fabric_->switch_of(b, nic);
        ASSERT_LT(from, fabric_->switches);
        std::vector<std::uint32_t> way;
        ASSERT_TRUE(fabric_->route(from, to, a * 1000 + b, way)) << a << " to " << b;
        std::uint32_t at = from;
        for (const std::uint32_t link : way) {
          ASSERT_LT(link, fabric_->links.size());
          ASSERT_EQ(fabric_->links[link].from, at);
          at = fabric_->links[link].to;
        }
        ASSERT_EQ(at, to);
        ASSERT_EQ(std::set<std::uint32_t>(way.begin(), way.end()).size(), way.size());
      }
    }
  }
}

TEST_P(EveryFabric, UsesEverySwitchOnlyUpToItsRadixAndNamesEachDifferently) {
  std::vector<double> ports(fabric_->switches);
  for (const FabricLink& link : fabric_->links) ports[link.from] += link.bandwidth.value / request_.port.value;
  for (std::uint32_t n = 0; n < request_.nodes; ++n) {
    for (std::uint32_t nic = 0; nic < request_.nics_per_node; ++nic) ports[fabric_->switch_of(n, nic)] += 1;
  }
  std::set<std::string> names;
  for (std::uint32_t s = 0; s < fabric_->switches; ++s) {
    EXPECT_TRUE(names.insert(fabric_->device(s).name).second) << fabric_->device(s).name;
    const bool whole = request_.spec.routing == "hash" && request_.spec.kind != "torus";
    if (whole) {
      EXPECT_LE(ports[s], request_.spec.radix) << fabric_->device(s).name;
    }
  }
}

TEST_P(EveryFabric, SendsOneFlowOneWay) {
  const std::uint32_t from = fabric_->switch_of(0, 0), to = fabric_->switch_of(request_.nodes - 1, 0);
  std::vector<std::uint32_t> once, again;
  fabric_->route(from, to, 77, once);
  fabric_->route(from, to, 77, again);
  EXPECT_EQ(once, again);
}

/// Links by the kinds of switches they join.
std::size_t hops(const FabricSpec& spec, std::uint32_t nodes, std::uint32_t a, std::uint32_t b) {
  const auto built = build_fabric({spec, nodes, 1, Bandwidth{10e9}});
  std::vector<std::uint32_t> way;
  built->route(built->switch_of(a, 0), built->switch_of(b, 0), 5, way);
  return way.size();
}

TEST(FatTree, HasAsManyLevelsAsNeededOrAsked) {
  EXPECT_EQ(clos_shape(fabric("fat-tree", 8), 8, 1).down, (std::vector<std::uint32_t>{8}));
  EXPECT_EQ(clos_shape(fabric("fat-tree", 8), 32, 1).down, (std::vector<std::uint32_t>{4, 8}));
  EXPECT_EQ(clos_shape(fabric("fat-tree", 8), 128, 1).down, (std::vector<std::uint32_t>{4, 4, 8}));
  EXPECT_EQ(clos_shape(fabric("fat-tree", 8), 129, 1).down, (std::vector<std::uint32_t>{4, 4, 4, 3}));
  EXPECT_EQ(clos_shape(levels(fabric("fat-tree", 8), 3), 8, 1).down, (std::vector<std::uint32_t>{4, 4, 1}));
  EXPECT_EQ(error_of([] { clos_shape(levels(fabric("fat-tree", 8), 2), 33, 1); }),
            "fabric: radix 8 is too small for 33 NICs on 2 levels");
}

TEST(FatTree, ClimbsOnlyAsHighAsItMust) {
  const FabricSpec spec = fabric("fat-tree", 8, "hash");
  EXPECT_EQ(hops(spec, 128, 0, 3), 0u);
  EXPECT_EQ(hops(spec, 128, 0, 4), 2u);
  EXPECT_EQ(hops(spec, 128, 0, 16), 4u);
}

TEST(FatTree, SharesPerfectlyOrCollides) {
  // 4 nodes of a leaf to 4 of another: four up-links. Adaptive: one as wide as all; hashed: flows draw.
  const auto loads = [](const char* routing) {
    const auto built = build_fabric({fabric("fat-tree", 8, routing), 32, 1, Bandwidth{10e9}});
    std::map<std::uint32_t, double> load;
    for (std::uint32_t n = 0; n < 4; ++n) {
      std::vector<std::uint32_t> way;
      built->route(built->switch_of(n, 0), built->switch_of(n + 4, 0), n, way);
      load[way.front()] += built->links[way.front()].bandwidth.value;
    }
    return load;
  };
  EXPECT_EQ(loads("adaptive").size(), 1u);
  EXPECT_EQ(loads("adaptive").begin()->second, 4 * 40e9);
  EXPECT_LT(loads("hash").size(), 5u);
}

FabricSpec sprayed(FabricSpec spec, double efficiency) {
  spec.routing = "spray";
  spec.spray_efficiency = efficiency;
  return spec;
}

TEST(FatTree, CarriesLessWherePacketsAreSprayedOverSeveralLinks) {
  for (const char* kind : {"fat-tree", "rail-fat-tree", "rail-only"}) {
    const auto adaptive = build_fabric({fabric(kind, 8), 20, 1, Bandwidth{10e9}});
    const auto spray = build_fabric({sprayed(fabric(kind, 8), 0.75), 20, 1, Bandwidth{10e9}});
    ASSERT_EQ(adaptive->links.size(), spray->links.size()) << kind;
    for (std::size_t i = 0; i < adaptive->links.size(); ++i) {
      const double share = adaptive->links[i].bandwidth.value > 10e9 ? 0.75 : 1;  // there is one link: nothing to draw
      EXPECT_DOUBLE_EQ(spray->links[i].bandwidth.value, adaptive->links[i].bandwidth.value * share) << kind;
    }
    const Halves halves{20, 10, {10e9}, {10e9}};
    EXPECT_LT(spray->bisection(halves), adaptive->bisection(halves)) << kind;
  }
}

TEST(DragonflyPlus, CarriesLessBetweenGroupsWherePacketsAreSprayed) {
  const auto adaptive = build_fabric({fabric("dragonfly-plus", 8), 40, 1, Bandwidth{10e9}});
  const auto spray = build_fabric({sprayed(fabric("dragonfly-plus", 8), 0.75), 40, 1, Bandwidth{10e9}});
  EXPECT_DOUBLE_EQ(spray->links.front().bandwidth.value, adaptive->links.front().bandwidth.value * 0.75);
}

std::string refused(const FabricSpec& spec) {
  try {
    build_fabric({spec, 9, 1, Bandwidth{10e9}});
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

TEST(Fabrics, SprayOnlyWithAStatedEfficiencyAndWhereThereAreWaysToDraw) {
  FabricSpec spec = fabric("fat-tree", 8, "spray");
  EXPECT_THAT(refused(spec), testing::HasSubstr("found 'spray' without spray_efficiency"));
  for (const double wrong : {0.0, -1.0, 1.1})
    EXPECT_THAT(refused(sprayed(spec, wrong)), testing::HasSubstr("spray_efficiency: must be above 0 and at most 1"));
  EXPECT_THAT(refused(sprayed(torus("3x3"), 0.9)), testing::HasSubstr("leaves a packet no choice"));
  EXPECT_EQ(refused(sprayed(spec, 1)), "");
}

TEST(Fabrics, HashWhereTheirRoutingAndTheirKindSaySo) {
  EXPECT_TRUE(hashes(fabric("fat-tree", 8, "hash")));
  EXPECT_TRUE(hashes(torus("3x3", "hash")));
  EXPECT_FALSE(hashes(fabric("fat-tree", 8)));
  EXPECT_FALSE(hashes(fabric("one-switch", 8, "hash")));
}

/// The links from each node to the one five further on, with a seed.
std::vector<std::vector<LinkId>> ways(FabricSpec spec, std::uint64_t seed) {
  spec.seed = seed;
  const Cluster cluster = build_cluster(dgx(), spec, 8 * 20);
  std::vector<std::vector<LinkId>> all;
  for (std::uint32_t gpu = 0; gpu < cluster.gpus(); ++gpu)
    all.push_back(cluster.path(GpuId{gpu}, GpuId{(gpu + 40) % cluster.gpus()}).links);
  return all;
}

TEST(Seed, DrawsOtherWaysWhereFlowsAreHashedAndNowhereElse) {
  for (const char* kind : {"fat-tree", "rail-fat-tree", "rail-only", "dragonfly-plus"}) {
    const FabricSpec hashed = fabric(kind, 16, "hash");
    EXPECT_EQ(ways(hashed, 3), ways(hashed, 3)) << kind;
    EXPECT_NE(ways(hashed, 3), ways(hashed, 4)) << kind;
    EXPECT_NE(ways(hashed, 0), ways(hashed, 1)) << kind;
    EXPECT_EQ(ways(fabric(kind, 16), 3), ways(fabric(kind, 16), 0)) << kind;
  }
}

TEST(Seed, SpreadsOneFlowEvenlyOverItsWays) {
  if (test::kSanitized) GTEST_SKIP() << "2,000 clusters, each like the other";
  std::map<LinkId, int> taken;
  constexpr int kSeeds = 2000;
  FabricSpec spec = fabric("fat-tree", 16, "hash");
  for (int seed = 0; seed < kSeeds; ++seed) {
    spec.seed = static_cast<std::uint64_t>(seed);
    const Path path = build_cluster(dgx(), spec, 8 * 4).path(GpuId{0}, GpuId{8});
    ++taken[path.links[path.links.size() / 2]];
  }
  ASSERT_EQ(taken.size(), 8u);                                                                // spines
  for (const auto& [link, times] : taken) EXPECT_NEAR(times, kSeeds / 8, 80) << index(link);  // five deviations
}

/// Seed 0 hashes as it did before there were seeds.
TEST(Seed, ZeroIsTheHashingOfOldReleases) {
  std::vector<std::uint32_t> drawn;
  for (std::uint64_t flow = 0; flow < 8; ++flow) drawn.push_back(pick(flow << 32 | 1, 0, 16));
  EXPECT_EQ(drawn, (std::vector<std::uint32_t>{1, 15, 9, 2, 3, 14, 2, 0}));
  EXPECT_EQ(scrambled(0), 0u);
}

TEST(FatTree, IsNarrowerAboveByTheOversubscription) {
  const auto built = build_fabric({fabric("fat-tree", 8, "adaptive", 3), 48, 1, Bandwidth{10e9}});
  EXPECT_EQ(built->links.front().bandwidth, Bandwidth{20e9});  // six nodes below
  EXPECT_EQ(built->switch_of(5, 0), built->switch_of(0, 0));
  EXPECT_NE(built->switch_of(6, 0), built->switch_of(0, 0));
}

TEST(RailOnly, NeverChangesRailOutsideTheNodes) {
  const auto built = build_fabric({fabric("rail-only", 8), 20, 4, Bandwidth{10e9}});
  EXPECT_TRUE(built->rails);
  std::vector<std::uint32_t> way;
  EXPECT_FALSE(built->route(built->switch_of(0, 0), built->switch_of(9, 1), 1, way));
  const Cluster cluster = build_cluster(dgx(), fabric("rail-only", 8), 160);
  EXPECT_EQ(cluster.path(GpuId{0}, GpuId{8 * 9 + 3}).kind, PathKind::network);  // over NVLink to GPU 3 first
}

TEST(DragonflyPlus, CrossesOneLinkBetweenGroups) {
  const FabricSpec spec = fabric("dragonfly-plus", 8, "hash");  // 4 nodes a leaf, 4 leaves a group
  EXPECT_EQ(hops(spec, 128, 0, 1), 0u);
  EXPECT_EQ(hops(spec, 128, 0, 4), 2u);
  EXPECT_EQ(hops(spec, 128, 0, 127), 3u);
}

TEST(DragonflyPlus, SharesTheGlobalLinksOfAGroupEvenlyAmongTheOthers) {
  // 9 groups of 4 spines with 4 global ports: 16 links to 8 groups, two each.
  const auto built = build_fabric({fabric("dragonfly-plus", 8), 144, 1, Bandwidth{10e9}});
  EXPECT_EQ(built->links.back().bandwidth, Bandwidth{20e9});
  EXPECT_EQ(error_of([] {
              build_fabric({fabric("dragonfly-plus", 4), 100, 1, Bandwidth{10e9}});
            }),
            "fabric: radix 4 is too small for 25 groups: each has 4 global links");
}

TEST(TorusFabric, GoesTheShorterWayInEveryDimension) {
  EXPECT_EQ(hops(torus("5x5"), 25, 0, 4), 1u);
  EXPECT_EQ(hops(torus("5x5"), 25, 0, 12), 4u);
  EXPECT_EQ(hops(torus("3x3x3"), 27, 0, 26), 3u);
  EXPECT_EQ(error_of([] {
              build_fabric({torus("2x2"), 5, 1, Bandwidth{10e9}});
            }),
            "fabric: torus: '2x2' has 4 places for 5 nodes");
}

}  // namespace
}  // namespace stepcast::topology
