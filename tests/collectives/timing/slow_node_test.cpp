// What collectives take where one node's network cards are slow.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "collectives/timing/timer.h"
#include "tests/topology/machines.h"

namespace stepcast::collectives {
namespace {

using topology::GpuId;

constexpr Bytes kMany{std::int64_t{1} << 30};

topology::Cluster cluster(std::uint32_t nodes, std::optional<topology::SlowNode> slow = {}) {
  return topology::build_cluster(topology::dgx(), topology::rail_fabric(), 8 * nodes, {}, slow);
}

/// The GPU in this place of each node.
Group rail(std::uint32_t nodes, std::uint32_t place = 0) {
  Group group;
  for (std::uint32_t node = 0; node < nodes; ++node) group.push_back(GpuId{8 * node + place});
  return group;
}

double ratio(Time a, Time b) { return to_seconds(a) / to_seconds(b); }

TEST(SlowNode, SetsThePaceOfARing) {
  const Timer whole(cluster(4), {}), slow(cluster(4, topology::SlowNode{2, 0.25}), {});
  const std::vector<Group> groups{rail(4)};
  for (const bool fold : {true, false})
    EXPECT_NEAR(ratio(slow.time(Operation::all_reduce, kMany, groups, "ring", fold).duration,
                      whole.time(Operation::all_reduce, kMany, groups, "ring", fold).duration),
                4, 0.01);
}

TEST(SlowNode, IsFeltByWhoCrossesItsCardsAlone) {
  const Timer whole(cluster(3), {}), slow(cluster(3, topology::SlowNode{1, 0.5}), {});
  const auto time = [](const Timer& timer, const Group& group, Operation operation) {
    return timer.time(operation, kMany, std::vector<Group>{group}).duration;
  };
  const Group beside{GpuId{0}, GpuId{16}}, across{GpuId{0}, GpuId{8}}, within{GpuId{8}, GpuId{9}, GpuId{10}};
  EXPECT_EQ(time(slow, beside, Operation::send_recv), time(whole, beside, Operation::send_recv));
  EXPECT_EQ(time(slow, within, Operation::all_reduce), time(whole, within, Operation::all_reduce));
  EXPECT_NEAR(ratio(time(slow, across, Operation::send_recv), time(whole, across, Operation::send_recv)), 2, 0.01);
}

/// Messages from nodes 0 and 1 to nodes 2 and 3 at the same moment, of which one has slow cards: the other is not late.
TEST(SlowNode, HoldsUpOneOfSiblings) {
  const Timer slow(cluster(4, topology::SlowNode{3, 0.5}), {});
  const std::vector<Group> both{{GpuId{0}, GpuId{16}}, {GpuId{8}, GpuId{24}}};
  const Timing& timing = slow.time(Operation::send_recv, kMany, both);
  EXPECT_NEAR(timing.spread, 0.5, 0.01);
  EXPECT_FALSE(timing.alike());
  EXPECT_NEAR(ratio(timing.duration, slow.time(Operation::send_recv, kMany, both, "auto", false, {.own = 1}).duration),
              2, 0.01);
}

/// A library does not know that a card is slow: it goes the way that it would go.
TEST(SlowNode, IsNotAvoided) {
  const Timer whole(cluster(4), {}), slow(cluster(4, topology::SlowNode{0, 0.1}), {});
  std::vector<Group> groups;
  for (std::uint32_t place = 0; place < 8; ++place) groups.push_back(rail(4, place));
  for (const std::int64_t bytes : {std::int64_t{1} << 10, std::int64_t{1} << 20, std::int64_t{1} << 28})
    for (const Operation operation : {Operation::all_reduce, Operation::all_gather, Operation::broadcast}) {
      const Timing &a = whole.time(operation, {bytes}, groups), &b = slow.time(operation, {bytes}, groups);
      EXPECT_EQ(a.algorithm + a.protocol, b.algorithm + b.protocol);
      EXPECT_LE(a.duration, b.duration);
    }
}

/// More ranks than are simulated whole.
TEST(SlowNode, HoldsUpGroupsThatAreTooLargeToSimulate) {
  constexpr std::uint32_t kLarge = 160;
  const Timer whole(cluster(kLarge), {}), slow(cluster(kLarge, topology::SlowNode{150, 0.25}), {});
  const std::vector<Group> groups{rail(kLarge)};
  EXPECT_NEAR(ratio(slow.time(Operation::all_reduce, kMany, groups, "ring").duration,
                    whole.time(Operation::all_reduce, kMany, groups, "ring").duration),
              4, 0.1);
}

}  // namespace
}  // namespace stepcast::collectives
