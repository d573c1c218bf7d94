// The fabrics' closed forms against the maximum flow over every link, on machines small enough for it.

#include <gtest/gtest.h>

#include <ostream>

#include "tests/topology/machines.h"
#include "topology/matrix.h"

namespace stepcast::topology {
namespace {

/// GPUs beside NICs on one PCIe switch each, NVLink between all; PCIe is wider than NICs, or half as wide.
NodeSpec node_of(std::uint32_t nics, bool slow_pcie = false) {
  NodeSpec node = dgx();
  node.gpus = nics;
  node.nics = nics;
  node.sockets = 1;
  node.gpus_per_pcie_switch = 1;
  node.pcie = link_type("pcie", LinkKind::pcie, slow_pcie ? 11.5 : 46, 100);
  return node;
}

FabricSpec fabric(const char* kind, std::uint32_t radix, double over = 1, const char* routing = "adaptive") {
  FabricSpec spec = rail_fabric(radix, routing, over);
  spec.kind = kind;
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
FabricSpec torus(const char* sides) {
  FabricSpec spec = fabric("torus", 8);
  spec.torus = sides;
  return spec;
}

struct Case {
  const char* name;
  FabricSpec fabric;
  std::uint32_t nics = 1, most = 40, fewest = 2;  ///< nodes
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class ClosedForm : public testing::TestWithParam<Case> {};

INSTANTIATE_TEST_SUITE_P(
    Fabrics, ClosedForm,
    testing::Values(Case{"one_switch", fabric("one-switch", 40), 2, 9},
                    Case{"fat_tree_two_levels", fabric("fat-tree", 8), 2, 16},
                    Case{"fat_tree_three_levels", fabric("fat-tree", 4), 1, 16},
                    Case{"fat_tree_five_levels", levels(fabric("fat-tree", 4), 5), 2, 20},
                    Case{"fat_tree_oversubscribed", fabric("fat-tree", 8, 3), 1, 40},
                    Case{"fat_tree_thin", fabric("fat-tree", 9, 2), 3, 16},
                    Case{"fat_tree_hashed", fabric("fat-tree", 8, 3, "hash"), 2, 24},
                    Case{"fat_tree_three_levels_hashed", fabric("fat-tree", 6, 2, "hash"), 1, 30},
                    Case{"rails_two_levels", fabric("rail-fat-tree", 16), 2, 30},
                    Case{"rails_three_levels", fabric("rail-fat-tree", 8), 2, 40},
                    Case{"rails_apart", fabric("rail-fat-tree", 6), 4, 24},
                    Case{"rails_oversubscribed", fabric("rail-fat-tree", 9, 2), 4, 24},
                    Case{"rails_hashed", fabric("rail-fat-tree", 8, 3, "hash"), 2, 40},
                    Case{"rail_only", fabric("rail-only", 8, 3), 4, 24},
                    Case{"dragonfly", fabric("dragonfly-plus", 8), 1, 60},
                    Case{"dragonfly_many_groups", groups(fabric("dragonfly-plus", 8), 9), 1, 60},
                    Case{"dragonfly_oversubscribed", groups(fabric("dragonfly-plus", 12, 3), 5), 2, 60},
                    Case{"dragonfly_thin_between", groups(fabric("dragonfly-plus", 4), 5), 1, 20},
                    Case{"torus_even", torus("4x6"), 1, 24}, Case{"torus_odd", torus("3x5"), 1, 15},
                    Case{"torus_wide_nodes", torus("4x4"), 3, 16}, Case{"torus_3d", torus("3x2x4"), 2, 24},
                    Case{"torus_long_rows", torus("8x2"), 2, 16, 16},
                    Case{"torus_3d_long_rows", torus("6x3x2"), 1, 36, 36}, Case{"torus_line", torus("1x7"), 2, 7}),
    [](const auto& suite) { return std::string(suite.param.name); });

TEST_P(ClosedForm, IsTheMaximumFlowForAnyNumberOfNodes) {
  for (const bool slow_pcie : {false, true}) {
    const NodeSpec node = node_of(GetParam().nics, slow_pcie);
    for (std::uint32_t nodes = GetParam().fewest; nodes <= GetParam().most; ++nodes) {
      const Cluster cluster = build_cluster(node, GetParam().fabric, nodes * node.gpus);
      const auto closed = bisection_in_closed_form(cluster);
      ASSERT_TRUE(closed);
      const Bandwidth flow = bisection(cluster);
      EXPECT_NEAR(closed->value / flow.value, 1, 1e-9) << nodes << " nodes, " << slow_pcie;
    }
  }
}

TEST(ClosedForm, OfAFullTreeIsHalfOfTheNics) {
  for (const std::uint32_t nodes : {2u, 64u, 2048u}) {
    const Cluster cluster = build_cluster(dgx(), rail_fabric(64), 8 * nodes);
    EXPECT_DOUBLE_EQ(bisection_in_closed_form(cluster)->value, nodes / 2 * 8 * 23e9) << nodes;
  }
}

// Two layers of all other sides are cut: Dally and Towles, section 5.2.1.
TEST(ClosedForm, OfALargeTorusIsTwoLayers) {
  NodeSpec node = node_of(8);
  EXPECT_DOUBLE_EQ(bisection_in_closed_form(build_cluster(node, torus("16x32"), 8 * 512))->value, 2 * 16 * 23e9);
  EXPECT_DOUBLE_EQ(bisection_in_closed_form(build_cluster(node, torus("8x8x16"), 8 * 1024))->value, 2 * 64 * 23e9);
}

TEST(ClosedForm, IsForWholeMachinesOfSeveralNodes) {
  EXPECT_FALSE(bisection_in_closed_form(build_cluster(dgx(), rail_fabric(), 8)));
  Allocation part;
  part.of_nodes = 4;
  part.nodes = {{0, {}}, {2, {}}};
  EXPECT_FALSE(bisection_in_closed_form(build_cluster(dgx(), rail_fabric(), part)));
}

}  // namespace
}  // namespace stepcast::topology
