// What textbooks say about traffic and time, each with its source, held against plans and their simulation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <set>

#include "collectives/algorithms.h"
#include "collectives/execute.h"
#include "collectives/timing/lower.h"
#include "collectives/timing/timer.h"
#include "collectives/timing/wiring.h"
#include "sim/executor.h"
#include "sim/input_error.h"
#include "tests/collectives/definition.h"
#include "tests/collectives/fixtures.h"
#include "tests/sanitized.h"

namespace stepcast::collectives {
namespace {

using test::build;
using test::gpus;

constexpr Bandwidth kPort{25e9};
constexpr Time kAlpha = microseconds(3);

struct Traffic {
  std::vector<std::int64_t> out, in;  ///< elements, by rank
  std::int64_t total = 0;
};

Traffic traffic(const CollectivePlan& plan) {
  Traffic traffic{std::vector<std::int64_t>(plan.ranks), std::vector<std::int64_t>(plan.ranks)};
  for (const Transfer& transfer : plan.transfers) {
    const Connection& way = plan.connections[index(transfer.connection)];
    traffic.out[index(way.source)] += plan.elements(transfer.chunk);
    traffic.in[index(way.destination)] += plan.elements(transfer.chunk);
    traffic.total += plan.elements(transfer.chunk);
  }
  return traffic;
}

/// Transfers of the longest chain of those that wait for each other.
std::uint32_t depth(const CollectivePlan& plan) {
  std::vector<std::uint32_t> level(plan.transfers.size());
  for (std::uint32_t t = 0; t < level.size(); ++t) {
    for (const TransferId earlier : plan.after(TransferId{t})) level[t] = std::max(level[t], level[index(earlier)]);
    ++level[t];
  }
  return *std::ranges::max_element(level);
}

Request all_reduce(std::uint32_t ranks, std::int64_t elements) {
  return {.operation = Operation::all_reduce, .ranks = ranks, .elements = elements, .nodes = ranks};
}

/// One GPU per node on one switch; alpha 3 us.
Timer uniform(std::uint32_t ranks) {
  return Timer(build({.nodes = ranks, .gpus = 1}), {.network_step = kAlpha, .chunk = {std::int64_t{1} << 40}});
}

Time time_of(Timer& timer, std::string_view algorithm, std::uint32_t ranks, Bytes bytes,
             Operation operation = Operation::all_reduce) {
  const Group group = gpus(ranks);
  return timer.time(operation, bytes, std::span(&group, 1), algorithm).duration;
}

/// A request as it is, on one GPU per node.
Time time_of(std::string_view name, const Request& request) {
  const topology::Cluster cluster = build({.nodes = request.ranks, .gpus = 1});
  const Group group = gpus(request.ranks);
  const CollectivePlan plan = algorithm(name).plan(request);
  const auto wiring = wire(plan, place(cluster, std::span(&group, 1)), cluster, {.network_step = kAlpha}, {}, 1);
  return sim::run(lower(plan, *wiring)).end;
}

// N g / (M BW) each way: Jiang et al., BytePS, OSDI 2020, section 2.2; Li et al., OSDI 2014.
TEST(Formulas, ParameterServersTakeTheirShareOfEveryWorkersGradientsEachWay) {
  for (const std::uint32_t workers : {2u, 5u, 8u}) {
    for (const std::uint32_t servers : {1u, 2u, 4u}) {
      Request request = all_reduce(workers + servers, 8'000'000);
      request.servers = servers;
      const std::string_view name = servers == 1 ? "parameter-server" : "sharded-parameter-server";
      const Traffic moved = traffic(algorithm(name).plan(request));
      for (std::uint32_t s = workers; s < workers + servers; ++s) {
        EXPECT_EQ(moved.in[s], workers * request.elements / servers);
        EXPECT_EQ(moved.out[s], workers * request.elements / servers);
      }
      // A worker's own port is the narrower one where there are more servers than workers.
      const std::int64_t busiest = std::max<std::int64_t>(workers * request.elements / servers, request.elements);
      EXPECT_EQ(time_of(name, request), (kAlpha + Bytes{busiest} / kPort) * 2) << workers << " " << servers;
    }
  }
}

TEST(Formulas, ParameterServersInPiecesOverlapBothWays) {
  Request request = all_reduce(9, 80'000'000);
  request.servers = 1;
  const double whole = to_seconds(time_of("parameter-server", request));
  request.pieces = 100;
  EXPECT_NEAR(to_seconds(time_of("parameter-server", request)) / whole, 0.51, 0.01);
}

// N (N - 1) M in all: every one of N workers sends its M bytes to N - 1 others (Ben-Nun and Hoefler, ACM Computing
// Surveys 52(4), 2019, section 6.3).
TEST(Formulas, NaiveExchangeMovesEverythingToEveryone) {
  for (const std::uint32_t p : {2u, 5u, 8u, 33u}) {
    const Request request = all_reduce(p, 1000);
    EXPECT_EQ(traffic(algorithm("naive").plan(request)).total, std::int64_t{p} * (p - 1) * 1000);
    Timer timer = uniform(p);
    EXPECT_EQ(time_of(timer, "naive", p, {25'000}), kAlpha + Bytes{25'000} * (p - 1) / kPort);
  }
}

// 2 (P - 1) / P n out of and into every rank: Patarasuk and Yuan, JPDC 69(2), 2009, section 3.
TEST(Formulas, RingSendsTwiceAllButOneShare) {
  for (const std::uint32_t p : {2u, 3u, 8u, 12u, 33u}) {
    const CollectivePlan plan = algorithm("ring").plan(all_reduce(p, 1000 * p));
    EXPECT_THAT(traffic(plan).out, testing::Each(2 * (p - 1) * 1000));
    EXPECT_THAT(traffic(plan).in, testing::Each(2 * (p - 1) * 1000));
    EXPECT_EQ(depth(plan), 2 * (p - 1));
  }
}

// 2 log2 P steps: up and down (Thakur, Rabenseifner and Gropp, IJHPCA 19(1), 2005). Our binary tree has floor(log2 P)
// levels of edges.
TEST(Formulas, TreeTakesTwiceItsDepth) {
  for (const std::uint32_t p : {2u, 3u, 4u, 8u, 15u, 16u, 64u}) {
    const auto levels = static_cast<std::uint32_t>(std::bit_width(p) - 1);
    EXPECT_EQ(depth(algorithm("tree").plan(all_reduce(p, 64))), 2 * levels);
    EXPECT_LE(depth(algorithm("double-binary-tree").plan(all_reduce(p, 64))), 2 * (levels + 1));
  }
}

// log2 P exchanges of n: Thakur et al., section 4.4, T = log2 P (alpha + n beta).
TEST(Formulas, ButterflySendsEverythingInEveryRound) {
  for (const std::uint32_t p : {2u, 4u, 8u, 32u, 64u}) {
    const std::int64_t rounds = std::bit_width(p) - 1;
    const CollectivePlan plan = algorithm("butterfly").plan(all_reduce(p, 1000));
    EXPECT_THAT(traffic(plan).out, testing::Each(rounds * 1000));
    EXPECT_EQ(depth(plan), rounds);
    Timer timer = uniform(p);
    EXPECT_EQ(time_of(timer, "butterfly", p, {25'000}), (kAlpha + Bytes{25'000} / kPort) * rounds);
  }
}

// 2 log2 P alpha + 2 (P - 1) / P n beta: Rabenseifner, ICCS 2004.
TEST(Formulas, HalvingDoublingHasTheLatencyOfTreesAndTheTrafficOfRings) {
  for (const std::uint32_t p : {2u, 4u, 8u, 32u, 64u}) {
    const std::int64_t rounds = std::bit_width(p) - 1, share = 25'000;
    const CollectivePlan plan = algorithm("halving-doubling").plan(all_reduce(p, share * p));
    EXPECT_THAT(traffic(plan).out, testing::Each(2 * (p - 1) * share));
    EXPECT_EQ(depth(plan), 2 * rounds);
    Timer timer = uniform(p);
    EXPECT_EQ(time_of(timer, "halving-doubling", p, {share * p}),
              kAlpha * (2 * rounds) + Bytes{share} * (2 * (p - 1)) / kPort);
  }
}

// 2 (P - 1) / P n with P - 1 messages at a time into each server: BytePS, section 2.2 (co-located servers).
TEST(Formulas, CoLocatedServersMoveWhatARingDoesInTwoSteps) {
  for (const std::uint32_t p : {2u, 3u, 8u, 12u}) {
    const CollectivePlan plan = algorithm("sharded-parameter-server").plan(all_reduce(p, 25'000 * p));
    EXPECT_THAT(traffic(plan).out, testing::Each(2 * (p - 1) * 25'000));
    std::vector<std::set<std::uint32_t>> into(p);
    for (const Connection& way : plan.connections) into[index(way.destination)].insert(index(way.source));
    EXPECT_THAT(into, testing::Each(testing::SizeIs(p - 1)));
    EXPECT_EQ(depth(plan), 2u);
    Timer timer = uniform(p);
    EXPECT_EQ(time_of(timer, "sharded-parameter-server", p, {25'000 * p}),
              (kAlpha + Bytes{25'000} * (p - 1) / kPort) * 2);
  }
}

// What a widely used simulator gets wrong, 1 of 4: messages side by side share the port they leave by.
// A port carries (P - 1) / P n, whatever the number of messages; in P - 1 steps, one message at a time (Thakur,
// Rabenseifner and Gropp, IJHPCA 19(1), 2005).
TEST(Formulas, ADirectExchangeOverASwitchIsBoundByOnePort) {
  for (const std::uint32_t p : {2u, 5u, 16u}) {
    Timer timer = uniform(p);
    const Bytes each{100'000};
    EXPECT_EQ(time_of(timer, "direct", p, each * p, Operation::all_to_all), kAlpha + each * (p - 1) / kPort);
    EXPECT_EQ(time_of(timer, "pairwise", p, each * p, Operation::all_to_all), (kAlpha + each / kPort) * (p - 1));
    EXPECT_EQ(time_of(timer, "direct", p, each * p, Operation::gather), kAlpha + each * (p - 1) / kPort);
    EXPECT_EQ(time_of(timer, "direct", p, each * p, Operation::scatter), kAlpha + each * (p - 1) / kPort);
  }
}

TEST(Formulas, TwoLevelAllToAllSendsOneMessagePerNode) {
  const std::uint32_t nodes = 4, local = 4, p = nodes * local;
  const Request request{.operation = Operation::all_to_all, .ranks = p, .elements = 10 * p, .nodes = nodes};
  const CollectivePlan plan = algorithm("hierarchical").plan(request);
  std::int64_t across = 0, messages = 0;
  for (const Transfer& transfer : plan.transfers) {
    const Connection& way = plan.connections[index(transfer.connection)];
    if (index(way.source) / local == index(way.destination) / local) continue;
    EXPECT_EQ(index(way.source) % local, index(way.destination) % local) << "leaves its rail";
    across += plan.elements(transfer.chunk);
    ++messages;
  }
  EXPECT_EQ(across, std::int64_t{p} * (p - local) * 10);  // what direct sends too
  EXPECT_EQ(messages, p * (nodes - 1));                   // direct: p (p - local)
}

TEST(Formulas, TheUnevenAllToAllIsBoundByTheBusiestPort) {
  const std::uint32_t p = 5;
  Request request{.operation = Operation::all_to_all, .ranks = p, .elements = 0, .nodes = p};
  request.pair_elements.assign(p * p, 25'000);
  request.pair_elements[0 * p + 3] = 500'000;  // one expert that everyone's tokens want
  request.pair_elements[1 * p + 3] = 250'000;
  request.elements = 4 * 25'000 + 500'000;
  EXPECT_EQ(time_of("direct", request), kAlpha + Bytes{500'000 + 250'000 + 2 * 25'000} / kPort);
}

// 2 of 4. A hop of a ring passes a switch without being stored there: one alpha and one message time per step, not two
// (Patarasuk and Yuan, JPDC 69(2), 2009: 2 (P - 1) (alpha + n / (P B)) on a cut-through network).
TEST(Formulas, ARingOverASwitchStoresNothingThere) {
  const std::uint32_t p = 8;
  Timer timer = uniform(p);
  const Bytes share{1'000'000};
  EXPECT_EQ(time_of(timer, "ring", p, share * p), (kAlpha + share / kPort) * (2 * (p - 1)));
}

// 3 of 4. The network's alpha and rate, not NVLink's (Hockney, Parallel Computing 20(3), 1994: alpha + n / B of the
// way).
TEST(Formulas, ASendBetweenNodesPaysTheSlowDimension) {
  Timer timer(build({.nodes = 2, .gpus = 4}), {.nvlink_step = microseconds(1), .network_step = microseconds(5)});
  const Bytes message{100'000'000};
  const auto send = [&](std::uint32_t to) {
    const Group pair{topology::GpuId{0}, topology::GpuId{to}};
    return timer.time(Operation::send_recv, message, std::span(&pair, 1)).duration;
  };
  EXPECT_EQ(send(1), microseconds(1) + message / Bandwidth{100e9});
  EXPECT_EQ(send(4), microseconds(5) + message / kPort);
}

// 4 of 4. Twelve ranks are no power of two. Halving-doubling takes four of them in first, and lets them have the sum at
// the end: 2 log2 8 + 2 steps (Rabenseifner, ICCS 2004). Both trees are as deep as
// those of 8 to 15 ranks (Sanders, Speck and Traeff, Parallel Computing 35(12), 2009).
TEST(Formulas, HalvingDoublingAndDoubleBinaryTreeFinishAndReduceOver12Ranks) {
  for (const char* name : {"halving-doubling", "double-binary-tree"}) {
    for (const std::int64_t elements : {0, 1, 11, 12, 13, 1000}) {
      const Request request = all_reduce(12, elements);
      const CollectivePlan plan = algorithm(name).plan(request);
      for (const TransferOrder turn : {TransferOrder::first_ready_first, TransferOrder::last_ready_first}) {
        test::Buffers buffers = test::before(request);
        execute(plan, buffers, turn);
        EXPECT_EQ(test::wrong(request, buffers), "") << name << " " << elements;
      }
    }
    EXPECT_LE(depth(algorithm(name).plan(all_reduce(12, 12))), 8u) << name;
    Timer timer = uniform(12);
    const double large = to_seconds(time_of(timer, name, 12, {1'200'000'000}));
    const double least = 2 * 11.0 / 12 * 1.2e9 / kPort.value;  // of any all-reduce
    EXPECT_GE(large, least) << name;
    EXPECT_LE(large, 2.2 * least) << name;
  }
}

// 2 log2(24576) steps against 2 x 24575: ratio of latencies 24575 / 15 over one GPU per node; NCCL 2.4 measured 180
// times on Summit (Jeaugey, "Massively Scale Your Deep Learning Training with NCCL 2.4", 2019), 6 GPUs per node.
TEST(Formulas, DoubleBinaryTreeIsTwoOrdersOfMagnitudeFasterThanARingOn24576Gpus) {
  if (stepcast::test::kSanitized) GTEST_SKIP() << "24,576 GPUs take long with sanitizers";
  Timer timer(build({.nodes = 4096, .gpus = 6, .nics = 6}),
              {.nvlink_step = microseconds(1), .network_step = microseconds(3)});
  const double ring = to_seconds(time_of(timer, "ring", 24'576, {8}));
  const double trees = to_seconds(time_of(timer, "double-binary-tree", 24'576, {8}));
  EXPECT_GE(ring / trees, 100) << ring << " s, " << trees << " s";
  RecordProperty("ratio", std::to_string(ring / trees));
}

// log2 P rounds, rounded up; every rank sends each of the other P - 1 parts once.
TEST(Formulas, Pat) {
  for (const std::uint32_t p : {2u, 3u, 8u, 13u, 64u}) {
    Timer timer = uniform(p);
    const Bytes bytes{std::int64_t{1'000'000} * p};
    const double rounds = std::ceil(std::log2(p));
    for (const Operation operation : {Operation::all_gather, Operation::reduce_scatter}) {
      EXPECT_NEAR(to_seconds(time_of(timer, "pat", p, bytes, operation)),
                  rounds * to_seconds(kAlpha) + (p - 1) * 1e6 / 25e9, 1e-9)
          << p;
    }
  }
}

}  // namespace
}  // namespace stepcast::collectives
