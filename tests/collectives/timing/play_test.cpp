#include "collectives/timing/play.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <utility>

#include "collectives/algorithms.h"
#include "collectives/timing/placement.h"
#include "tests/collectives/fixtures.h"
#include "tests/sanitized.h"

namespace stepcast::collectives {
namespace {

using test::build;
using test::gpus;

std::size_t most_planned = 0;  // transfers, since last set

/// Algorithm "ring", which notes how much of its plan it is asked for.
Algorithm noted_ring() {
  Algorithm ring = algorithm("ring");
  ring.plan = [](const Request& request) {
    CollectivePlan plan = algorithm("ring").plan(request);
    most_planned = std::max(most_planned, plan.transfers.size());
    return plan;
  };
  return ring;
}

struct Played {
  Outcome whole, shortened;
  std::size_t all = 0, planned = 0;  // transfers
};

Played play_both(const topology::Cluster& cluster, const std::vector<Group>& groups, const Transport& transport,
                 Operation operation, std::int64_t bytes, double scale) {
  const Algorithm ring = noted_ring();
  const GroupPlacement placement = place(cluster, groups);
  Request request = request_on(cluster, placement, operation, transport.most_channels, {});
  request.elements = bytes;
  const auto all = static_cast<std::uint32_t>(groups.size());
  const Symmetry most = ring.symmetry(request);
  std::optional<Wiring> wiring;
  for (const Symmetry symmetry : {most, Symmetry{most.period, false}, Symmetry{}}) {
    request.fold = symmetry;
    if (symmetry.rotate || symmetry == Symmetry{} || symmetry.period != 0) {
      wiring = wire(ring.plan(request), placement, cluster, transport, symmetry, all);
    }
    if (wiring) break;
  }
  Played played;
  most_planned = 0;
  played.whole = play(ring, request, *wiring, scale, false);
  played.all = std::exchange(most_planned, 0);
  played.shortened = play(ring, request, *wiring, scale, true);
  played.planned = most_planned;
  return played;
}

void expect_equal(const Played& played) {
  EXPECT_EQ(played.shortened.end, played.whole.end);
  ASSERT_EQ(played.shortened.carried.size(), played.whole.carried.size());
  for (std::size_t i = 0; i < played.whole.carried.size(); ++i) {
    EXPECT_NEAR(played.shortened.carried[i], played.whole.carried[i], 1e-9 * played.whole.carried[i]);
  }
  ASSERT_EQ(played.shortened.by_route.size(), played.whole.by_route.size());
  for (std::size_t i = 0; i < played.whole.by_route.size(); ++i) {
    EXPECT_NEAR(played.shortened.by_route[i], played.whole.by_route[i], 1e-9 * played.whole.by_route[i]);
  }
}

/// Machines, latencies (connections that run ahead of each other, and out of step), routings, siblings and sizes.
TEST(Play, ShortenedRingsEndWhenTheWholeEndsToThePicosecond) {
  std::mt19937 random(20250607);
  const auto pick = [&](std::initializer_list<std::int64_t> of) { return *(of.begin() + random() % of.size()); };
  const int rounds = stepcast::test::kSanitized ? 40 : 250;
  int shortened = 0;
  for (int round = 0; round < rounds; ++round) {
    const auto local = static_cast<std::uint32_t>(pick({1, 2, 4, 8}));
    const auto nodes = static_cast<std::uint32_t>(96 / local + random() % 80);
    const auto nics = static_cast<std::uint32_t>(local == 1 ? 1 : pick({local, local / 2}));
    const topology::Cluster cluster = build({.nodes = nodes,
                                             .gpus = local,
                                             .nics = nics,
                                             .fabric = random() % 2 ? "one-switch" : "rail-fat-tree",
                                             .routing = random() % 2 ? "adaptive" : "hash",
                                             .nvlink_latency = nanoseconds(pick({0, 300, 1301})),
                                             .nic_latency = nanoseconds(pick({0, 700, 2503})),
                                             .switch_latency = nanoseconds(pick({0, 170}))});
    Transport transport;
    transport.nvlink_step = nanoseconds(pick({0, 900, 2000, 9001}));
    transport.pcie_step = nanoseconds(pick({0, 3001}));
    transport.network_step = nanoseconds(pick({1, 4000, 7333, 30011}));
    transport.network_efficiency = random() % 2 ? 1 : 0.931;
    transport.nvlink_efficiency = random() % 2 ? 1 : 0.137;
    std::vector<Group> groups{gpus(nodes * local)};
    if (local > 1 && random() % 3 == 0) {
      groups.clear();  // a group for each local index
      for (std::uint32_t l = 0; l < local; ++l) groups.push_back(gpus(nodes, l, local));
    }
    const auto operation =
        std::array{Operation::all_reduce, Operation::all_gather, Operation::reduce_scatter}[random() % 3];
    const std::int64_t each = pick({0, 1, 7, 960, 12'345, 1'000'003});
    const double scale = random() % 2 ? 1 : 0.4375;
    SCOPED_TRACE(testing::Message() << "round " << round << ": " << nodes << " x " << local << ", " << nics << " NICs, "
                                    << groups.size() << " groups, " << name(operation) << " of " << each
                                    << " bytes a rank and channel");
    const Played played = play_both(cluster, groups, transport, operation, each * nodes * local * local, scale);
    expect_equal(played);
    shortened += played.planned < played.all;
  }
  EXPECT_GT(shortened, rounds * 3 / 10);
}

TEST(Play, WhatIsSimulatedOfARingDoesNotGrowWithIt) {
  const Transport transport{.nvlink_step = microseconds(2), .network_step = microseconds(5)};
  std::vector<std::size_t> planned;
  for (const std::uint32_t nodes : {128u, 512u}) {
    const Played played = play_both(build({.nodes = nodes, .gpus = 4}), {gpus(nodes * 4)}, transport,
                                    Operation::all_reduce, nodes * 64'000, 1);
    expect_equal(played);
    planned.push_back(played.planned);
  }
  EXPECT_EQ(planned[0], planned[1]);
}

/// Steps differ where the blocks do: one byte more for some. No part of it stands for the rest.
TEST(Play, UnevenPartsAreSimulatedToTheEnd) {
  const Transport transport{.nvlink_step = microseconds(2), .network_step = microseconds(5)};
  const Played played =
      play_both(build({.nodes = 128, .gpus = 4}), {gpus(512)}, transport, Operation::all_reduce, 512 * 1000 + 3, 1);
  expect_equal(played);
  EXPECT_EQ(played.planned, played.all);
}

/// A ring of unlike steps, not folded: what the slow ones hold up takes a long way round.
TEST(Play, RingsThatAreNotFoldedEndWhenTheWholeEnds) {
  const topology::Cluster cluster = build({.nodes = 17, .gpus = 4, .nics = 2, .nic_latency = nanoseconds(700)});
  Transport transport{.nvlink_step = microseconds(2), .pcie_step = microseconds(3), .network_step = microseconds(17)};
  const Algorithm ring = noted_ring();
  const Group group = gpus(68);
  const GroupPlacement placement = place(cluster, std::span(&group, 1));
  for (const std::int64_t each : {0LL, 1000LL, 4'000'001LL}) {
    Request request = request_on(cluster, placement, Operation::all_reduce, 4, {});
    request.elements = each * 68;
    const std::optional<Wiring> wiring = wire(ring.plan(request), placement, cluster, transport, {}, 1);
    EXPECT_EQ(play(ring, request, *wiring, 1, true).end, play(ring, request, *wiring, 1, false).end);
  }
}

}  // namespace
}  // namespace stepcast::collectives
