#include "collectives/nccl/tuner.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <vector>

#include "sim/input_error.h"

namespace stepcast::collectives::nccl {
namespace {

ChannelGraph graph(std::uint32_t channels, double intra, double inter) {
  ChannelGraph g;
  g.channels = channels;
  g.intra = Bandwidth{intra * 1e9};
  g.inter = Bandwidth{inter * 1e9};
  return g;
}

/// DGX H100 with `gpus` of its 8 GPUs and as many NDR adapters, Intel CPUs. The golden table does not print the
/// graphs: these are the ones that the rules of the search give (48 GB/s a rail, channels doubled and halved in rate
/// below 5) and the only ones that give its rates.
Job dgx_h100(std::uint32_t nodes, std::uint32_t gpus) {
  Job job;
  job.nodes = nodes;
  job.ranks = nodes * gpus;
  job.architecture = Architecture::hopper;
  const std::uint32_t channels = gpus == 8 ? 8 : 2 * gpus;
  const double rate = gpus == 8 ? 48 : 24;
  job.graphs[static_cast<std::size_t>(Algo::ring)] = graph(channels, rate, rate);
  // With one GPU per node a tree's ranks use their adapter twice: the node's side is searched at twice the rate.
  ChannelGraph tree = graph(channels, gpus == 1 ? 2 * rate : rate, rate);
  if (gpus < 8) tree.intra = Bandwidth{48e9};
  tree.plain_tree = true;
  job.graphs[static_cast<std::size_t>(Algo::tree)] = tree;
  if (gpus >= 4) job.graphs[static_cast<std::size_t>(Algo::nvls_tree)] = graph(gpus, gpus == 8 ? 40 : 60, 48);
  return job;
}

struct Row {
  Operation operation{};
  Algo algorithm{};
  Protocol protocol{};
  std::uint32_t nodes = 0, gpus = 0;
  double latency = 0, rate = 0;
};

std::vector<Row> golden() {
  std::ifstream file(STEPCAST_SOURCE_DIR "/tests/golden/nccl/h100_2275_tuning_table.csv");
  std::vector<Row> rows;
  std::string line;
  while (std::getline(file, line)) {
    if (line.empty() || line[0] == '#' || line.starts_with("collective")) continue;
    std::vector<std::string> cells;
    std::istringstream in(line);
    for (std::string cell; std::getline(in, cell, ',');) cells.push_back(cell);
    Row row;
    row.operation = cells.at(0) == "all_reduce" ? Operation::all_reduce : Operation::all_gather;
    row.algorithm = cells[1] == "ring" ? Algo::ring : cells[1] == "tree" ? Algo::tree : Algo::nvls_tree;
    row.protocol = cells[4] == "LL" ? Protocol::ll : cells[4] == "LL128" ? Protocol::ll128 : Protocol::simple;
    row.nodes = static_cast<std::uint32_t>(std::stoul(cells[2]));
    row.gpus = static_cast<std::uint32_t>(std::stoul(cells[3]));
    row.latency = std::stod(cells[5]);
    row.rate = std::stod(cells[6]);
    rows.push_back(row);
  }
  return rows;
}

TEST(NcclTuner, GivesEveryEntryOfTheTableThatNccl2275PrintsForH100) {
  const std::vector<Row> rows = golden();
  ASSERT_EQ(rows.size(), 180u);
  std::size_t latencies = 0, rates = 0;
  for (const Row& row : rows) {
    const auto cost =
        price(constants("2.27.5"), dgx_h100(row.nodes, row.gpus), row.operation, row.algorithm, row.protocol);
    ASSERT_TRUE(cost) << name(row.algorithm) << row.nodes << 'x' << row.gpus;
    const double latency = to_seconds(cost->latency) * 1e6, rate = cost->rate.value / 1e9;
    EXPECT_NEAR(latency, row.latency, 0.051)
        << name(row.algorithm) << ' ' << name(row.protocol) << ' ' << row.nodes << 'x' << row.gpus;
    EXPECT_NEAR(rate, row.rate, 0.051) << name(row.algorithm) << ' ' << name(row.protocol) << ' ' << row.nodes << 'x'
                                       << row.gpus;
    latencies += std::abs(latency - row.latency) < 0.051;
    rates += std::abs(rate - row.rate) < 0.051;
  }
  EXPECT_EQ(latencies, 180u);
  EXPECT_EQ(rates, 180u);
}

TEST(NcclTuner, ReduceScatterCostsWhatAllGatherDoes) {
  const Job job = dgx_h100(4, 8);
  for (const Protocol protocol : {Protocol::ll, Protocol::ll128, Protocol::simple}) {
    const auto gather = price(constants("2.27.5"), job, Operation::all_gather, Algo::ring, protocol);
    const auto scatter = price(constants("2.27.5"), job, Operation::reduce_scatter, Algo::ring, protocol);
    EXPECT_EQ(gather->latency, scatter->latency);
    EXPECT_EQ(gather->rate, scatter->rate);
  }
}

TEST(NcclTuner, AnA100NodeTakesLowLatencyFirstAndSimpleLast) {
  Job job;
  job.ranks = 8;
  job.graphs[static_cast<std::size_t>(Algo::ring)] = graph(12, 20, 20);
  job.graphs[static_cast<std::size_t>(Algo::tree)] = graph(12, 20, 20);
  const Constants& release = constants("2.30.7");
  EXPECT_EQ(pick(release, job, Operation::all_reduce, {8}).protocol, Protocol::ll);
  EXPECT_EQ(pick(release, job, Operation::all_reduce, {4 << 20}).protocol, Protocol::ll128);
  const Pick large = pick(release, job, Operation::all_reduce, {1 << 30});
  EXPECT_EQ(large.protocol, Protocol::simple);
  EXPECT_EQ(large.algorithm, Algo::ring);
  // The smallest: 6.6 us and 14 hops of 0.6 us.
  EXPECT_NEAR(to_seconds(pick(release, job, Operation::all_reduce, {8}).predicted), 15e-6, 0.01e-6);
}

TEST(NcclTuner, MultimemOfOneH100NodeReachesWhatTheSearchPromises) {
  Job job;
  job.ranks = 8;
  job.architecture = Architecture::hopper;
  job.graphs[static_cast<std::size_t>(Algo::nvls)] = graph(8, 40, 40);
  const auto cost = price(constants("2.30.7"), job, Operation::all_reduce, Algo::nvls, Protocol::simple);
  ASSERT_TRUE(cost);
  EXPECT_NEAR(cost->rate.value * 2 * 7 / 8, 476e9, 0.1e9);  // busbw
  EXPECT_EQ(cost->latency, microseconds(25));
}

TEST(NcclTuner, OverridesLeaveNothingElse) {
  const Job job = dgx_h100(2, 8);
  const Constants& release = constants("2.27.5");
  const Pick tree = pick(release, job, Operation::all_reduce, {1 << 30}, {.algorithm = Algo::tree});
  EXPECT_EQ(tree.algorithm, Algo::tree);
  const Pick ll = pick(release, job, Operation::all_reduce, {1 << 30}, {.protocol = Protocol::ll});
  EXPECT_EQ(ll.protocol, Protocol::ll);
  const auto all = price(release, job, Operation::all_reduce, Algo::ring, Protocol::simple);
  const auto half = price(release, job, Operation::all_reduce, Algo::ring, Protocol::simple, {.most_channels = 4});
  EXPECT_DOUBLE_EQ(half->rate.value * 2, all->rate.value);
  EXPECT_THROW(pick(release, job, Operation::all_gather, {8}, {.algorithm = Algo::tree}), InputError);
}

TEST(NcclTuner, VersionsAreFoundByTheNewestThatIsNotNewer) {
  EXPECT_EQ(constants("2.27.2").from, "2.23.4");
  EXPECT_EQ(constants("2.27.5").from, "2.27.3");
  EXPECT_EQ(constants("2.9.9").from, "2.8.4");
  EXPECT_EQ(constants("2.16.2").from, "2.14");
  EXPECT_EQ(constants("3.0").from, "2.30.7");
  EXPECT_THROW(constants("2.4.8"), InputError);
  EXPECT_THROW(constants("two"), InputError);
  EXPECT_THROW(constants("2"), InputError);
  EXPECT_THROW(constants("2.27.5.1"), InputError);
  EXPECT_THROW(constants(""), InputError);
}

TEST(NcclTuner, ReleasesMoveWhatTheyAreKnownToHaveMoved) {
  const Job job = dgx_h100(2, 8);
  const auto latency = [&](const char* version, Algo algorithm) {
    return to_seconds(price(constants(version), job, Operation::all_reduce, algorithm, Protocol::simple)->latency) *
           1e6;
  };
  EXPECT_NEAR(latency("2.7.8", Algo::tree), 0 + 2 * (7 * 28 + 50), 1e-6);
  EXPECT_NEAR(latency("2.8.4", Algo::tree), 0 + 2 * (7 * 28 + 28), 1e-6);
  EXPECT_NEAR(latency("2.18.6", Algo::tree), 0 + 2 * (7 * 4 + 14), 1e-6);
  EXPECT_NEAR(latency("2.20.5", Algo::tree), 0 + 2 * (7 * 28 + 28), 1e-6);
  EXPECT_NEAR(latency("2.23.4", Algo::tree), 8.4 + 2 * (7 * 4 + 14), 1e-6);
  EXPECT_NEAR(latency("2.12.12", Algo::ring) - latency("2.14", Algo::ring), 4 * (28 - 9.6), 1e-6);
}

/// Lines of tuning.cc of each release, by hand: 16 A100 nodes of one GPU each, one ring of 24 GB/s.
TEST(NcclTuner, ReleasesFormTheirNumbersAsTheirSourcesDo) {
  Job job{.ranks = 16, .nodes = 16};
  job.graphs[at(Algo::ring)] = ChannelGraph{.channels = 1, .intra = {24e9}, .inter = {24e9}, .same_channels = false};
  const auto cost = [&](const char* version, Operation operation, Protocol protocol) {
    return *price(constants(version), job, operation, Algo::ring, protocol);
  };
  const auto latency = [&](const char* version, Operation operation, Protocol protocol) {
    return to_seconds(cost(version, operation, protocol).latency) * 1e6;
  };
  const auto rate = [&](const char* version, Operation operation, Protocol protocol) {
    return cost(version, operation, protocol).rate.value / 1e9;
  };
  constexpr Operation gather = Operation::all_gather, reduce = Operation::all_reduce;
  EXPECT_NEAR(rate("2.20.5", gather, Protocol::ll), 24 / 4.0 * 16 / 15, 1e-6);
  EXPECT_NEAR(rate("2.21.5", gather, Protocol::ll), 24 / 2.0 * 16 / 15, 1e-6);
  EXPECT_NEAR(rate("2.22.3", gather, Protocol::ll128), 24 * 0.7 * 16 / 15, 1e-6);
  EXPECT_NEAR(rate("2.23.4", gather, Protocol::ll128), 20 * 16 / 15.0, 1e-6);
  EXPECT_NEAR(rate("2.9.9", gather, Protocol::ll128), 24 * 0.7 * 16 / 15, 1e-6);
  EXPECT_NEAR(rate("2.9.9", Operation::reduce, Protocol::ll128), 12, 1e-6);
  // The hops of a tree between nodes since 2.23 alone, and the crossings of a turn.
  EXPECT_NEAR(latency("2.22.3", gather, Protocol::ll), 6.6 + 15 * 2.7, 1e-6);
  EXPECT_NEAR(latency("2.23.4", gather, Protocol::ll), 6.6 + 15 * 5.0, 1e-6);
  EXPECT_NEAR(latency("2.11.4", reduce, Protocol::simple), 8.4 + 30 * 9.6, 1e-6);
  EXPECT_NEAR(latency("2.22.3", reduce, Protocol::simple), 8.4 + 32 * 14 - 2 * 3.4, 1e-6);
  EXPECT_NEAR(latency("2.23.4", reduce, Protocol::simple), 8.4 + 30 * 14, 1e-6);
  EXPECT_NEAR(latency("2.19.4", Operation::broadcast, Protocol::simple), 8.4 + 16 * 28, 1e-6);
  // What a network's plugin tells.
  job.graphs[at(Algo::ring)]->network_latency = microseconds(35);
  EXPECT_NEAR(latency("2.11.4", gather, Protocol::ll), 3.6 + 15 * 2.7, 1e-6);
  EXPECT_NEAR(latency("2.17.1", gather, Protocol::ll), 3.6 + 15 * 35, 1e-6);
  EXPECT_NEAR(latency("2.22.3", gather, Protocol::simple), 8.4 + 15 * (14 + 70), 1e-6);
  // Past its plateau a ring's latency counts more.
  const auto predicted = [&](const char* version, std::int64_t bytes) {
    const Constants& release = constants(version);
    const Price of = cost(version, reduce, Protocol::simple);
    return to_seconds(predict(release, of, job, reduce, Algo::ring, Protocol::simple, {bytes}) -
                      Bytes{bytes} / of.rate) /
           to_seconds(of.latency);
  };
  EXPECT_NEAR(predicted("2.16.5", 32 << 10), 1, 1e-6);
  EXPECT_NEAR(predicted("2.16.5", 64 << 10), 1.9, 1e-6);
  EXPECT_NEAR(predicted("2.19.4", 32 << 10), 1.4, 1e-6);
}

TEST(NcclTuner, ReleasesHaveTheAlgorithmsThatTheyCameWith) {
  Job node{.ranks = 8, .architecture = Architecture::hopper};
  node.graphs[at(Algo::ring)] = node.graphs[at(Algo::nvls)] = graph(8, 40, 40);
  Job nodes = dgx_h100(2, 8);
  const auto priced = [](const char* version, const Job& job, Algo algorithm) {
    return price(constants(version), job, Operation::all_reduce, algorithm, Protocol::simple).has_value();
  };
  EXPECT_FALSE(priced("2.14.3", node, Algo::nvls));
  EXPECT_FALSE(priced("2.16.5", node, Algo::nvls));
  EXPECT_TRUE(priced("2.17.1", node, Algo::nvls));
  EXPECT_FALSE(priced("2.17.1", nodes, Algo::nvls_tree));
  EXPECT_TRUE(priced("2.18.1", nodes, Algo::nvls_tree));
  nodes.collnet = true;
  nodes.graphs[at(Algo::nvls)] = graph(8, 40, 40);
  EXPECT_FALSE(priced("2.17.1", nodes, Algo::nvls));
  EXPECT_TRUE(priced("2.18.1", nodes, Algo::nvls));
  EXPECT_TRUE(has(constants("2.23.4"), Algo::pat));
  EXPECT_FALSE(has(constants("2.22.3"), Algo::pat));
}

TEST(NcclTuner, OneGpuOfEachNodeGathersByPatSinceItIsThere) {
  Job job{.ranks = 64, .nodes = 64, .architecture = Architecture::hopper};
  job.graphs[at(Algo::ring)] = job.graphs[at(Algo::tree)] = job.graphs[at(Algo::pat)] =
      ChannelGraph{.channels = 4, .intra = {24e9}, .inter = {24e9}};
  EXPECT_EQ(pick(constants("2.23.4"), job, Operation::all_gather, {8192}).algorithm, Algo::pat);
  EXPECT_EQ(pick(constants("2.21.5"), job, Operation::all_gather, {8192}).algorithm, Algo::ring);
  EXPECT_EQ(pick(constants("2.23.4"), job, Operation::all_gather, {std::int64_t{8} << 30}).algorithm, Algo::ring);
}

TEST(NcclTuner, TrustsLl128OverC2cSinceIts2_27_3) {
  Job job = dgx_h100(2, 8);
  const Bytes bytes{256 << 10};
  ASSERT_EQ(pick(constants("2.26.2"), job, Operation::all_reduce, bytes).protocol, Protocol::ll128);
  job.ll128 = Ll128Trust::over_c2c;
  EXPECT_NE(pick(constants("2.26.2"), job, Operation::all_reduce, bytes).protocol, Protocol::ll128);
  EXPECT_EQ(pick(constants("2.27.3"), job, Operation::all_reduce, bytes).protocol, Protocol::ll128);
}

TEST(NcclTuner, TakesLl128WhereItIsOffIfSomebodyForcesIt) {
  Job job = dgx_h100(2, 8);
  job.ll128 = Ll128Trust::none;
  const Constants& release = constants("2.27.5");
  for (const Bytes bytes : {Bytes{1 << 10}, Bytes{1 << 20}, Bytes{1 << 26}})
    EXPECT_NE(pick(release, job, Operation::all_reduce, bytes).protocol, Protocol::ll128);
  const Pick forced = pick(release, job, Operation::all_reduce, {1 << 20}, {.protocol = Protocol::ll128});
  EXPECT_EQ(forced.protocol, Protocol::ll128);
}

}  // namespace
}  // namespace stepcast::collectives::nccl
