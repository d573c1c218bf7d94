#include "collectives/timing/flow_times.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <span>
#include <vector>

#include "collectives/patterns.h"
#include "tests/collectives/fixtures.h"

namespace stepcast::collectives {
namespace {

using test::build;
using test::gpus;

/// The machines of these tests have one GPU and one NIC of 25 GB/s on each node.
constexpr double kNic = 25e9;
constexpr std::int64_t kSize = 50'000'000;

CollectivePlan incast(std::uint32_t ranks, std::int64_t bytes = kSize) {
  return patterns()[0]->flows(ranks, Bytes{bytes});
}
CollectivePlan permutation(std::uint32_t ranks, std::int64_t bytes = kSize) {
  return patterns()[1]->flows(ranks, Bytes{bytes});
}

double last(const std::vector<Time>& times) { return to_seconds(*std::ranges::max_element(times)); }

TEST(FlowTimes, IncastSharesTheReceiversPort) {
  for (const std::uint32_t ranks : {2u, 5u, 16u}) {
    const topology::Cluster cluster = build({.nodes = ranks, .gpus = 1});
    const std::vector<Time> times = flow_times(incast(ranks), gpus(ranks), cluster, {});
    ASSERT_EQ(times.size(), ranks - 1);
    for (const Time time : times) EXPECT_NEAR(to_seconds(time), (ranks - 1) * kSize / kNic, 1e-9);
  }
}

TEST(FlowTimes, PermutationFindsEveryPortForItselfWhereNothingBlocks) {
  for (const char* fabric : {"one-switch", "fat-tree"}) {
    const topology::Cluster cluster = build({.nodes = 32, .gpus = 1, .fabric = fabric, .radix = 8});
    for (const Time time : flow_times(permutation(32), gpus(32), cluster, {}))
      EXPECT_NEAR(to_seconds(time), kSize / kNic, 1e-9) << fabric;
  }
}

TEST(FlowTimes, LeftBandwidthGoesToTheOthers) {
  const topology::Cluster cluster = build({.nodes = 3, .gpus = 1});
  const std::vector<std::int64_t> weights{0, 0, 2,  //
                                          0, 0, 1,  //
                                          0, 0, 0};
  const std::vector<Time> times = flow_times(flows_of(weights, 3, Bytes{kSize}), gpus(3), cluster, {});
  EXPECT_NEAR(to_seconds(times[0]), 1.5 * kSize / kNic, 1e-9);  // alone when the half-sized one is through
  EXPECT_NEAR(to_seconds(times[1]), kSize / kNic, 1e-9);
}

TEST(FlowTimes, HasTheLinksLatencyAndTheTransportsLaunchRampAndStep) {
  const topology::Cluster cluster = build({.nodes = 2, .gpus = 1, .nic_latency = nanoseconds(300)});
  Transport transport;
  transport.launch = microseconds(5);
  transport.ramp = microseconds(2);
  transport.network_step = microseconds(3);
  const std::vector<Time> times = flow_times(incast(2, 0), gpus(2), cluster, transport);
  EXPECT_EQ(times.front(), microseconds(5 + 2 + 3) + nanoseconds(600));
}

TEST(FlowTimes, ARankIsTheGpuAtItsPlaceInTheGroup) {
  const topology::Cluster cluster = build({.nodes = 2, .gpus = 2, .nics = 2});
  const std::vector<std::int64_t> first_to_second{0, 1, 0,  //
                                                  0, 0, 0,  //
                                                  0, 0, 0};
  const Group inside{topology::GpuId{3}, topology::GpuId{2}, topology::GpuId{0}};
  const Group across{topology::GpuId{3}, topology::GpuId{0}, topology::GpuId{2}};
  const CollectivePlan plan = flows_of(first_to_second, 3, Bytes{kSize});
  EXPECT_LT(last(flow_times(plan, inside, cluster, {})), last(flow_times(plan, across, cluster, {})));
}

TEST(FlowTimes, OneFlowIsASendAndReceive) {
  const topology::Cluster cluster = build({.nodes = 2, .gpus = 1, .nic_latency = nanoseconds(300)});
  Transport transport;
  transport.launch = microseconds(5);
  transport.network_step = microseconds(3);
  Timer timer(cluster, transport);
  const Group both{topology::GpuId{1}, topology::GpuId{0}};
  EXPECT_EQ(flow_times(incast(2), gpus(2), cluster, transport).front(),
            timer.time(Operation::send_recv, Bytes{kSize}, std::span(&both, 1)).duration);
}

/// The oracle of hashed paths: flows that meet on one link leave each other half of it, so no flow is quicker than one
/// alone, none slower than all on one link, and over many hashings some collide.
TEST(FlowTimes, HashedFlowsCollideMoreOrLessFromSeedToSeed) {
  std::set<double> lasts;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const topology::Cluster cluster =
        build({.nodes = 16, .gpus = 1, .fabric = "fat-tree", .radix = 4, .routing = "hash", .seed = seed});
    const std::vector<Time> times = flow_times(permutation(16), gpus(16), cluster, {});
    EXPECT_EQ(times, flow_times(permutation(16), gpus(16), cluster, {}));
    for (const Time time : times) EXPECT_GE(to_seconds(time), kSize / kNic * (1 - 1e-9));
    lasts.insert(std::round(last(times) * kNic / kSize * 1000) / 1000);
  }
  EXPECT_GT(lasts.size(), 1u);
  EXPECT_LE(*lasts.rbegin(), 4);
  EXPECT_GE(*lasts.rbegin(), 2);
}

}  // namespace
}  // namespace stepcast::collectives
