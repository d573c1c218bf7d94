// What NCCL's search finds on machines of configs/, and the table it prices with that: from the cluster to the pick.

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "collectives/nccl/search.h"
#include "collectives/timing/timer.h"
#include "language/configs/cluster.h"
#include "sim/input_error.h"
#include "tests/language/fixtures.h"

namespace stepcast {
namespace {

using collectives::Group;
using collectives::Operation;
using namespace collectives::nccl;

schedules::ClusterSpec cluster_of(const std::string& yaml) {
  language::Library library = language::configs();
  const language::Node tree = language::parse_yaml(yaml, "test.yaml");
  language::Value value;
  value.node = &tree;
  value.library = &library;
  return language::finish(language::read_block(language::cluster_table(), value), value);
}
topology::NodeSpec node_named(const std::string& name) { return cluster_of("node: " + name).node; }

Job job_of(const topology::Cluster& cluster, const Group& group) {
  collectives::ChainSearches searches;
  return search(cluster, group, searches);
}

/// The first `gpus` GPUs of `nodes` machines joined by one switch.
Job job_on(const topology::NodeSpec& node, std::uint32_t nodes, std::uint32_t gpus) {
  const topology::Cluster cluster = topology::build_cluster(node, {}, nodes * node.gpus);
  Group group;
  for (std::uint32_t at = 0; at < nodes; ++at) {
    for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) group.push_back(topology::GpuId{at * node.gpus + gpu});
  }
  return job_of(cluster, group);
}

std::string text(const std::optional<ChannelGraph>& graph) {
  if (!graph) return "none";
  std::ostringstream out;
  out << graph->channels << " x " << graph->intra.value / 1e9 << '/' << graph->inter.value / 1e9
      << (graph->inside == Hardware::nvlink ? " NVL" : " PCI");
  return out.str();
}
std::string graph(const Job& job, Algo algorithm) { return text(job.graphs[static_cast<std::size_t>(algorithm)]); }

TEST(NcclSearch, FromTheClusterToEveryEntryOfTheTableOfNccl2275) {
  std::ifstream file(STEPCAST_SOURCE_DIR "/tests/golden/nccl/h100_2275_tuning_table.csv");
  const topology::NodeSpec node = node_named("dgx-h100");
  std::map<std::pair<std::uint32_t, std::uint32_t>, Job> jobs;
  int latencies = 0, rates = 0, rings = 0;
  std::string line;
  while (std::getline(file, line)) {
    if (line.empty() || line[0] == '#' || line.starts_with("collective")) continue;
    std::vector<std::string> cells;
    std::istringstream in(line);
    for (std::string cell; std::getline(in, cell, ',');) cells.push_back(cell);
    const auto nodes = static_cast<std::uint32_t>(std::stoul(cells[2]));
    const auto gpus = static_cast<std::uint32_t>(std::stoul(cells[3]));
    if (!jobs.contains({nodes, gpus})) jobs[{nodes, gpus}] = job_on(node, nodes, gpus);
    const Operation operation = cells[0] == "all_reduce" ? Operation::all_reduce : Operation::all_gather;
    const Algo algorithm = cells[1] == "ring" ? Algo::ring : cells[1] == "tree" ? Algo::tree : Algo::nvls_tree;
    const Protocol protocol = cells[4] == "LL"      ? Protocol::ll
                              : cells[4] == "LL128" ? Protocol::ll128
                                                    : Protocol::simple;
    const auto cost = price(constants("2.27.5"), jobs[{nodes, gpus}], operation, algorithm, protocol);
    ASSERT_TRUE(cost) << line;
    const bool right = std::abs(cost->rate.value / 1e9 - std::stod(cells[6])) < 0.051;
    EXPECT_NEAR(to_seconds(cost->latency) * 1e6, std::stod(cells[5]), 0.051) << line;
    EXPECT_TRUE(right) << line << ": " << cost->rate.value / 1e9 << " from " << graph(jobs[{nodes, gpus}], algorithm);
    latencies += std::abs(to_seconds(cost->latency) * 1e6 - std::stod(cells[5])) < 0.051;
    rates += right;
    rings += right && algorithm == Algo::ring && protocol == Protocol::simple;
  }
  EXPECT_EQ(latencies, 180);
  EXPECT_EQ(rates, 180);
  EXPECT_EQ(rings, 38);
}

/// The table of a log of NCCL 2.23.4 on two Perlmutter nodes: NERSC/nccl-ofi-plugin at commit 9f59235,
/// logs-regression/slurm-test-2.23-918503.out. LL128 has a latency and no rate there.
TEST(NcclSearch, FromTheClusterToTheTableOfPerlmuttersLog) {
  struct Row {
    Operation operation{};
    Algo algorithm{};
    Protocol protocol{};
    double latency = 0, rate = 0;
  };
  constexpr Operation reduce = Operation::all_reduce, gather = Operation::all_gather, cast = Operation::broadcast;
  constexpr Row rows[] = {
      {reduce, Algo::tree, Protocol::ll, 20.4, 11.2}, {reduce, Algo::tree, Protocol::simple, 60.4, 47.2},
      {reduce, Algo::ring, Protocol::ll, 36.0, 12.9}, {reduce, Algo::ring, Protocol::simple, 108.4, 54.9},
      {gather, Algo::ring, Protocol::ll, 21.3, 25.7}, {gather, Algo::ring, Protocol::simple, 58.4, 109.7},
      {cast, Algo::ring, Protocol::ll, 28.2, 22.5},   {cast, Algo::ring, Protocol::simple, 120.4, 96.0}};
  const Job job = job_on(node_named("perlmutter"), 2, 4);
  EXPECT_EQ(graph(job, Algo::tree), "4 x 48/24 NVL");
  EXPECT_FALSE(job.graphs[static_cast<std::size_t>(Algo::tree)]->plain_tree);
  EXPECT_EQ(job.ll128, Ll128Trust::none);
  for (const Row& row : rows) {
    const auto cost = price(constants("2.23.4"), job, row.operation, row.algorithm, row.protocol);
    ASSERT_TRUE(cost);
    EXPECT_NEAR(to_seconds(cost->latency) * 1e6, row.latency, 0.051) << name(row.algorithm) << name(row.protocol);
    EXPECT_NEAR(cost->rate.value / 1e9, row.rate, 0.051) << name(row.algorithm) << name(row.protocol);
  }
}

// NCCL's logs, each from the issue that is named. Those not found are listed in docs/nccl.md.
TEST(NcclSearch, FindsTheGraphsOfLogs) {
  const topology::NodeSpec h100 = node_named("dgx-h100"), a100 = node_named("dgx-a100-40gb");
  // NVIDIA/nccl 1197: 8 Hopper GPUs behind NVSwitches.
  EXPECT_EQ(graph(job_on(h100, 1, 8), Algo::ring), "12 x 30/30 NVL");
  EXPECT_EQ(graph(job_on(h100, 1, 8), Algo::tree), "12 x 30/30 NVL");
  EXPECT_EQ(graph(job_on(h100, 1, 8), Algo::nvls), "8 x 40/60 NVL");
  // A log of 2 of 8 A100 GPUs.
  EXPECT_EQ(graph(job_on(a100, 1, 2), Algo::ring), "12 x 20/20 NVL");
  // A log of one GPU per node with one HDR adapter.
  EXPECT_EQ(graph(job_on(a100, 2, 1), Algo::ring), "1 x 24/24 NVL");
  EXPECT_EQ(graph(job_on(a100, 2, 1), Algo::tree), "1 x 48/24 NVL");
  // NVIDIA/nccl 713: 4 V100 GPUs, two NVLinks for each pair; 6 x 22 in the releases that rate an NVLink at 22 GB/s.
  EXPECT_EQ(graph(job_on(node_named("abci-v"), 1, 4), Algo::ring), "6 x 20/20 NVL");
  // NVIDIA/nccl 1313: 8 H800 GPUs (8 NVLinks each) and two adapters of 400 Gbit/s.
  topology::NodeSpec h800 = h100;
  h800.nvlinks_per_gpu = 8;
  h800.nics = 2;
  EXPECT_EQ(graph(job_on(h800, 2, 8), Algo::ring), "4 x 24/24 NVL");
  // NVIDIA/nccl 1189: 2 H20 GPUs with an adapter each.
  EXPECT_EQ(graph(job_on(node_named("hgx-h20"), 2, 2), Algo::ring), "4 x 24/24 NVL");
  // NVIDIA/nccl 1358: 2 GPUs at PCIe Gen4 on two Intel sockets, 10 GB/s between them.
  topology::NodeSpec sockets = node_named("pcie-4x-a100");
  sockets.gpus = sockets.sockets = 2;
  sockets.gpus_per_pcie_switch = 1;
  sockets.cpu = topology::CpuVendor::intel;
  sockets.socket_link = {
      .name = "upi", .kind = topology::LinkKind::socket, .bandwidth = {10e9}, .latency = {}, .source = {}};
  EXPECT_EQ(graph(job_on(sockets, 1, 2), Algo::ring), "1 x 10/10 PCI");
  // NVIDIA/nccl 601: 4 GPUs, 4 adapters of 10 Gbit/s.
  topology::NodeSpec ethernet = node_named("pcie-4x-a100");
  ethernet.nics = 4;
  ethernet.nic = {.name = "10g",
                  .kind = topology::LinkKind::network,
                  .bandwidth = {1.25e9},
                  .efficiency = 0.94,
                  .latency = {},
                  .source = {}};
  EXPECT_EQ(graph(job_on(ethernet, 2, 4), Algo::ring), "4 x 1.2/1.2 PCI");
}

// configs/links/infinity-fabric.yaml has what copies reach, NCCL's search the 16 GB/s of its own table: of its
// rates 15.
TEST(NcclSearch, CountsNcclsRateBetweenAmdSocketsWhateverCopiesReach) {
  topology::NodeSpec node = node_named("pcie-4x-a100");
  for (const double reached : {10e9, 16e9, 20e9, 40e9}) {
    node.socket_link->bandwidth = {reached};
    node.socket_link->efficiency = 1;
    EXPECT_EQ(graph(job_on(node, 1, 4), Algo::ring), "1 x 15/15 PCI") << reached;
  }
}

// What constants.md of the sources calls NCCL's graphs of these platforms.
TEST(NcclSearch, FindsTheGraphsOfPlatforms) {
  EXPECT_EQ(graph(job_on(node_named("dgx-1-p100"), 1, 8), Algo::ring), "4 x 18/18 NVL");
  EXPECT_EQ(graph(job_on(node_named("dgx-1-v100-16gb"), 1, 8), Algo::ring), "6 x 20/20 NVL");
  EXPECT_EQ(graph(job_on(node_named("dgx-2"), 1, 16), Algo::ring), "6 x 20/20 NVL");
  EXPECT_EQ(graph(job_on(node_named("dgx-a100-40gb"), 1, 8), Algo::ring), "12 x 20/20 NVL");
  EXPECT_EQ(graph(job_on(node_named("dgx-a100-40gb"), 2, 8), Algo::ring), "8 x 24/24 NVL");
  // Two DGX H100: NVLSTree at 462 GB/s busbw with the constants of 2.30.7.
  const Job h100 = job_on(node_named("dgx-h100"), 2, 8);
  const auto cost = price(constants("2.30.7"), h100, Operation::all_reduce, Algo::nvls_tree, Protocol::simple);
  ASSERT_TRUE(cost);
  EXPECT_NEAR(cost->rate.value * 2 * 15 / 16, 462e9, 1e9);
  EXPECT_EQ(graph(job_on(node_named("gb200-nvl72"), 1, 72), Algo::nvls), "32 x 20/90 NVL");
  // All directions of all NVLinks: what twelve rings of one NVLink would use.
  EXPECT_EQ(graph(job_on(node_named("perlmutter"), 1, 4), Algo::ring), "12 x 20/20 NVL");
  EXPECT_EQ(graph(job_on(node_named("perlmutter"), 2, 4), Algo::ring), "4 x 24/24 NVL");
  EXPECT_EQ(graph(job_on(node_named("dgx-1-v100-16gb"), 2, 8), Algo::ring), "4 x 12/12 NVL");
}

TEST(NcclSearch, DistrustsLl128WhereWaysLeaveNvlinkOrCrossTheHost) {
  EXPECT_EQ(job_on(node_named("dgx-h100"), 2, 8).ll128, Ll128Trust::all_releases);
  EXPECT_EQ(job_on(node_named("dgx-1-p100"), 1, 8).ll128, Ll128Trust::none);
  EXPECT_EQ(job_on(node_named("pcie-8x-a100"), 1, 8).ll128, Ll128Trust::none);
  EXPECT_EQ(job_on(node_named("perlmutter"), 2, 4).ll128, Ll128Trust::none);  // adapters hang off the socket
  EXPECT_EQ(job_on(node_named("alps-gh200"), 2, 4).ll128, Ll128Trust::over_c2c);
  EXPECT_EQ(job_on(node_named("alps-gh200"), 1, 4).ll128, Ll128Trust::all_releases);
}

TEST(NcclSearch, AlgorithmNcclIsTimedAsItsPick) {
  const topology::NodeSpec node = node_named("dgx-h100");
  const topology::Cluster cluster = topology::build_cluster(node, {}, 32);
  Group group;
  for (std::uint32_t gpu = 0; gpu < 32; ++gpu) group.push_back(topology::GpuId{gpu});
  collectives::Transport stack;
  stack.nccl_version = "2.27.5";
  stack.nvlink_step = microseconds(1);
  stack.network_step = microseconds(4);
  stack.ll = {.launch = {}, .ramp = {}, .share = 0.5};
  collectives::Timer timer(cluster, stack);
  const Job job = job_of(cluster, group);
  for (const std::int64_t bytes : {8LL, 1LL << 20, 1LL << 26, 1LL << 30}) {
    const Pick picked = pick(constants("2.27.5"), job, Operation::all_reduce, {bytes});
    const auto timing = timer.time(Operation::all_reduce, {bytes}, std::span(&group, 1), "nccl");
    EXPECT_EQ(timing.algorithm, plan_name(picked.algorithm, 4)) << bytes;
    // The stack has no LL128 of its own.
    EXPECT_EQ(timing.protocol, picked.protocol == Protocol::ll128 ? "Simple" : name(picked.protocol)) << bytes;
    const auto same =
        timer.time(Operation::all_reduce, {bytes}, std::span(&group, 1), timing.algorithm + "/" + timing.protocol);
    EXPECT_EQ(timing.duration, same.duration);
  }
  EXPECT_EQ(timer.time(Operation::all_to_all, {1 << 20}, std::span(&group, 1), "nccl").algorithm, "direct");
  stack.nccl_version = "2.4.8";
  collectives::Timer old(cluster, stack);  // picked by thresholds: the fastest stands for them
  EXPECT_EQ(old.time(Operation::all_reduce, {8}, std::span(&group, 1), "nccl").duration,
            old.time(Operation::all_reduce, {8}, std::span(&group, 1)).duration);
}

/// A network's plugin leaves what it leaves, tells NCCL's model a latency, and may pick by itself.
TEST(NcclSearch, PluginsOfNetworksHaveTheirSay) {
  topology::NodeSpec node = node_named("dgx-h100");
  node.nic->nccl.plugin = {};
  Group group;
  for (std::uint32_t gpu = 0; gpu < 32; ++gpu) group.push_back(topology::GpuId{gpu});
  collectives::Transport stack;
  stack.network_of_links = true;
  stack.nvlink_step = microseconds(3);
  stack.ll = {.launch = {}, .ramp = {}, .share = 0.5};
  const auto timing = [&](std::int64_t bytes, const char* algorithm) {
    return collectives::Timer(topology::build_cluster(node, {}, 32), stack)
        .time(Operation::all_reduce, {bytes}, std::span(&group, 1), algorithm);
  };
  EXPECT_EQ(timing(8, "auto").protocol, "LL");
  EXPECT_EQ(timing(8, "nccl").protocol, "LL");
  EXPECT_EQ(job_of(topology::build_cluster(node, {}, 32), group).graphs[0]->network_latency, Time{});
  node.nic->nccl.plugin.latency = microseconds(75);
  EXPECT_EQ(job_of(topology::build_cluster(node, {}, 32), group).graphs[0]->network_latency, microseconds(75));
  node.nic->nccl.plugin.protocols = {"Simple"};
  EXPECT_EQ(timing(8, "auto").protocol, "Simple");
  EXPECT_EQ(timing(8, "nccl").protocol, "Simple");
  stack.forced.protocols = {"LL"};  // who runs the job has the last word
  EXPECT_EQ(timing(8, "auto").protocol, "LL");
  stack.forced = {};
  node.nic->nccl.plugin = {.algorithms = {"ring"}};
  EXPECT_EQ(timing(8, "auto").algorithm, "ring");
  EXPECT_EQ(timing(8, "nccl").algorithm, "ring");
  node.nic->nccl.plugin = {.own_tuner = true};
  EXPECT_EQ(timing(1 << 26, "nccl").duration, timing(1 << 26, "auto").duration);
  node.nic->nccl.plugin = {.protocols = {"Simple"}};
  stack.network_of_links = false;  // no stack of NCCL's
  EXPECT_EQ(timing(8, "auto").protocol, "LL");
}

/// Where the network's switches add, large sums are theirs: over CollNet, and with NVLS since Hopper.
TEST(NcclSearch, SwitchesOfTheNetworkAddWhereTheyCan) {
  collectives::Transport stack;
  stack.nvlink_step = microseconds(2);
  stack.network_step = microseconds(8);
  for (const char* name : {"dgx-a100-80gb", "dgx-h100"}) {
    const topology::NodeSpec node = node_named(name);
    topology::FabricSpec fabric = cluster_of("{node: dgx-h100, fabric: rail-fat-tree-ndr}").fabric;
    Group group;
    for (std::uint32_t gpu = 0; gpu < 8 * node.gpus; ++gpu) group.push_back(topology::GpuId{gpu});
    for (const bool adds : {false, true}) {
      fabric.in_network_reduction = adds;
      const topology::Cluster cluster = topology::build_cluster(node, fabric, 8 * node.gpus);
      const auto timing = collectives::Timer(cluster, stack)
                              .time(Operation::all_reduce, {std::int64_t{1} << 30}, std::span(&group, 1), "nccl");
      EXPECT_EQ(timing.algorithm == "sharp", adds) << name << ": " << timing.algorithm;
      EXPECT_EQ(job_of(cluster, group).collnet, adds);
    }
  }
}

TEST(NcclSearch, Ll128IsUsedWhereNcclTrustsIt) {
  Group group;
  for (std::uint32_t gpu = 0; gpu < 8; ++gpu) group.push_back(topology::GpuId{gpu});
  collectives::Transport stack;
  stack.nvlink_step = stack.host_step = stack.network_step = microseconds(10);
  stack.ll128 = {.launch = {}, .ramp = {}, .share = 0.9};
  for (const auto& [name, trusted] : {std::pair{"dgx-h100", true}, {"perlmutter", false}}) {
    const topology::NodeSpec node = node_named(name);
    const collectives::Timer timer(topology::build_cluster(node, {}, 2 * node.gpus), stack);
    group.resize(2 * node.gpus);
    for (std::uint32_t gpu = 0; gpu < group.size(); ++gpu) group[gpu] = topology::GpuId{gpu};
    EXPECT_EQ(timer.time(Operation::all_reduce, {8}, std::span(&group, 1)).protocol, trusted ? "LL128" : "Simple");
    EXPECT_EQ(timer.time(Operation::all_reduce, {8}, std::span(&group, 1), "ring/LL128").protocol, "LL128") << name;
  }
}

}  // namespace
}  // namespace stepcast
