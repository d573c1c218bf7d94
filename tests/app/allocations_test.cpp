// Every algorithm on 50 random parts of every machine of configs/nodes: run on integers over the links that it gets
// there, and timed.

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <string>

#include "collectives/algorithms.h"
#include "collectives/execute.h"
#include "collectives/search/chains.h"
#include "collectives/search/view_links.h"
#include "collectives/timing/placement.h"
#include "collectives/timing/timer.h"
#include "tests/app/machines.h"
#include "tests/collectives/definition.h"
#include "tests/long.h"
#include "tests/sanitized.h"

namespace stepcast::app {
namespace {

using collectives::Algorithm;
using collectives::Operation;
using collectives::Request;
using topology::Cluster;

const collectives::Transport kTransport{.launch = microseconds(5),
                                        .nvlink_step = microseconds(1),
                                        .pcie_step = microseconds(2),
                                        .host_step = microseconds(3),
                                        .network_step = microseconds(6),
                                        .network_efficiency = 0.9};
constexpr std::uint32_t kAllocations = 50, kMostOfANode = 16;

/// Some GPUs of one node, or unequally many of each of two to four out of six.
topology::Allocation draw(std::mt19937& random, const topology::NodeSpec& node) {
  const std::uint32_t nodes = node.nics == 0 || random() % 2 == 0 ? 1 : 2 + static_cast<std::uint32_t>(random() % 3);
  const auto most = std::min(node.gpus, nodes == 1 ? kMostOfANode : kMostOfANode / 2);
  std::vector<std::uint32_t> places(6), gpus(node.gpus);
  std::iota(places.begin(), places.end(), 0u);
  std::iota(gpus.begin(), gpus.end(), 0u);
  std::ranges::shuffle(places, random);
  topology::Allocation allocation{.nodes = {}, .of_nodes = 6};
  if (node.nics == 0) allocation.of_nodes = 1, places = {0};
  for (std::uint32_t n = 0; n < nodes; ++n) {
    std::ranges::shuffle(gpus, random);
    const std::uint32_t least = nodes == 1 ? std::min(2u, most) : 1;
    const auto count = static_cast<std::ptrdiff_t>(least + random() % (most - least + 1));
    allocation.nodes.push_back({places[n], {gpus.begin(), gpus.begin() + count}});
  }
  return allocation;
}

std::vector<Operation> able(const Algorithm& algorithm, Request request) {
  std::vector<Operation> operations;
  for (const Operation operation : collectives::kOperations) {
    request.operation = operation;
    if (algorithm.supports(request)) operations.push_back(operation);
  }
  return operations;
}

void expect_right(const Algorithm& algorithm, const Request& request) {
  const collectives::CollectivePlan plan = algorithm.plan(request);
  const collectives::test::Grain grain(request, plan);
  collectives::test::Buffers buffers = before(request, grain);
  execute(grain.of(plan), buffers,
          request.elements % 2 == 0 ? collectives::TransferOrder::last_ready_first
                                    : collectives::TransferOrder::first_ready_first);
  EXPECT_EQ(wrong(request, grain, buffers), "") << algorithm.name << " " << name(request.operation);
  EXPECT_TRUE(unreached(plan).empty()) << algorithm.name << " " << name(request.operation);
}

/// Ends, after no less than its busiest link needs; folded and whole take the same.
void expect_time(const Cluster& cluster, collectives::Timer& timer, const collectives::Group& group,
                 const Algorithm& algorithm, Operation operation) {
  const Bytes bytes{std::int64_t{1 << 16} * static_cast<std::int64_t>(group.size() * group.size())};
  const auto time = [&](bool fold) { return timer.time(operation, bytes, std::span(&group, 1), algorithm.name, fold); };
  const collectives::Timing folded = time(true);
  const std::string what = std::string(algorithm.name) + " " + std::string(name(operation));
  EXPECT_GT(folded.duration, folded.latency) << what;
  for (const collectives::Timing::Load& load : folded.loads) {
    EXPECT_LE(load.bytes, cluster.link_bandwidth(load.link).value * to_seconds(folded.duration) * (1 + 1e-9)) << what;
  }
  EXPECT_EQ(folded.duration, time(false).duration) << what;
}

class EveryPart : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Configs, EveryPart, testing::ValuesIn(machine_names()), [](const auto& each) {
  std::string name = each.param;
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

TEST_P(EveryPart, OfTheMachineRunsAndTimesEveryAlgorithm) {
  const schedules::ClusterSpec spec = machine(GetParam());
  if (spec.node.gpus == 1 && spec.node.nics == 0) GTEST_SKIP() << "one GPU";
  constexpr std::uint32_t kSeed = 4;
  std::mt19937 random(kSeed);
  const std::uint32_t every = stepcast::test::kSanitized ? 25 : stepcast::test::long_run() ? 1 : 7;
  for (std::uint32_t i = 0; i < kAllocations; ++i) {
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", allocation " + std::to_string(i));
    const topology::Allocation allocation = draw(random, spec.node);
    if (i % every != 0) continue;
    const Cluster cluster = build_cluster(spec.node, spec.fabric, allocation);
    collectives::Group group;
    for (std::uint32_t g = 0; g < cluster.gpus(); ++g) group.push_back(topology::GpuId{g});
    const collectives::GroupPlacement placement = collectives::place(cluster, std::span(&group, 1));
    const std::int64_t p = cluster.gpus(), sizes[] = {0, 1, p - 1, p, p + 1, 1'000'003};
    collectives::Timer timer(cluster, kTransport);
    collectives::ChainSearches searches;
    const std::vector<collectives::Chain> chains = collectives::found_chains(cluster, group, placement.nodes, searches);
    const collectives::LinkView links = collectives::view_links(cluster, group);
    std::uint32_t number = i, turn = 0;
    for (const Algorithm* algorithm : collectives::algorithms()) {
      Request request = request_on(cluster, placement, Operation::all_reduce, kTransport.most_channels, chains);
      if (algorithm->needs_links) request.links = links;
      const std::vector<Operation> operations = able(*algorithm, request);
      for (const Operation operation : operations) {
        request.operation = operation;
        request.elements = sizes[number++ % std::size(sizes)];
        request.pieces = 1 + number % 3;
        expect_right(*algorithm, request);
      }
      // Each algorithm on every fifth part.
      if (!operations.empty() && (turn++ + i) % 5 == 0)
        expect_time(cluster, timer, group, *algorithm, operations[i % operations.size()]);
    }
  }
}

}  // namespace
}  // namespace stepcast::app
