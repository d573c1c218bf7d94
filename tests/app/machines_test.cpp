// Every machine of configs/nodes: any of its GPUs, over any nodes, can talk to each other.

#include "tests/app/machines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "tests/sanitized.h"
#include "topology/cluster.h"

namespace stepcast::app {
namespace {

using topology::Allocation;
using topology::Cluster;
using topology::GpuId;
using topology::Path;

class EveryMachine : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Configs, EveryMachine, testing::ValuesIn(machine_names()), [](const auto& each) {
  std::string name = each.param;
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

/// Some GPUs of each of `nodes` nodes out of twice as many.
Allocation draw(std::mt19937& random, std::uint32_t nodes, std::uint32_t per_node) {
  std::vector<std::uint32_t> places(2 * nodes), gpus(per_node);
  std::iota(places.begin(), places.end(), 0u);
  std::iota(gpus.begin(), gpus.end(), 0u);
  std::ranges::shuffle(places, random);
  Allocation allocation;
  allocation.of_nodes = 2 * nodes;
  for (std::uint32_t n = 0; n < nodes; ++n) {
    std::ranges::shuffle(gpus, random);
    const std::size_t most = std::min<std::size_t>(gpus.size(), 16);
    allocation.nodes.push_back(
        {places[n], {gpus.begin(), gpus.begin() + 1 + static_cast<std::ptrdiff_t>(random() % most)}});
  }
  return allocation;
}

TEST_P(EveryMachine, ReachesAllGpusOfFiftyRandomAllocations) {
  const schedules::ClusterSpec spec = machine(GetParam());
  constexpr std::uint32_t kSeed = 20;
  std::mt19937 random(kSeed);
  for (int i = 0; i < 50; ++i) {
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", allocation " + std::to_string(i));
    const std::uint32_t nodes = spec.node.nics == 0 ? 1 : 1 + static_cast<std::uint32_t>(random() % 3);
    const Allocation allocation = draw(random, nodes, spec.node.gpus);
    if (stepcast::test::kSanitized && i % 10 != 0) continue;
    const Cluster cluster = build_cluster(spec.node, spec.fabric, allocation);
    ASSERT_EQ(cluster.nodes(), nodes);
    for (std::uint32_t a = 0; a < cluster.gpus(); ++a) {
      for (std::uint32_t b = 0; b < cluster.gpus(); ++b) {
        const Path there = cluster.path(GpuId{a}, GpuId{b}), back = cluster.path(GpuId{b}, GpuId{a});
        ASSERT_EQ(there.links.empty(), a == b);
        ASSERT_EQ(there.links.size(), there.loads.size());
        ASSERT_TRUE(a == b || there.bandwidth.value > 0);
        ASSERT_EQ(there.kind == topology::PathKind::network, cluster.node_of(GpuId{a}) != cluster.node_of(GpuId{b}));
        ASSERT_EQ(there.kind, back.kind);
        for (std::size_t l = 0; l < there.links.size(); ++l) {
          const Bandwidth link = cluster.link_bandwidth(there.links[l]);
          ASSERT_LE(there.bandwidth.value * there.loads[l], link.value * (1 + 1e-12));
        }
      }
    }
  }
}

}  // namespace
}  // namespace stepcast::app
