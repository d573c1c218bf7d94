// Copies through host memory, on nodes whose GPUs cannot reach each other over PCIe: a GPU that sends and receives at
// the same time reaches a share of its PCIe rate each way, one that does only one of both the whole rate.

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "collectives/timing/timer.h"
#include "tests/collectives/fixtures.h"
#include "topology/cluster.h"

namespace stepcast::collectives {
namespace {

using test::gpus;
using test::one;

constexpr Bandwidth kPcie{10e9}, kWide{1000e9};
constexpr Bytes kMessage{1'000'000'000};
constexpr double kShare = 0.5;

struct HostMachine {
  std::uint32_t gpus = 2, sockets = 1, gpus_per_switch = 0, nodes = 1;
  bool p2p = false;
  topology::LinkKind kind = topology::LinkKind::pcie;  ///< of the links between GPUs and CPUs
  double faster = 1;                                   ///< all rates times this
};

topology::Cluster build_host(const HostMachine& machine) {
  const auto link = [&](topology::LinkKind kind, Bandwidth rate) {
    return topology::LinkType{.name = "link", .kind = kind, .bandwidth = rate * machine.faster, .source = {}};
  };
  topology::NodeSpec node;
  node.name = "node";
  node.builder = "pcie";
  node.gpus = machine.gpus;
  node.sockets = machine.sockets;
  node.gpus_per_pcie_switch = machine.gpus_per_switch;
  node.nics = machine.nodes > 1 ? machine.sockets : 0;
  node.pcie_p2p = machine.p2p;
  node.pcie = link(machine.kind, kPcie);
  node.socket_link = link(topology::LinkKind::socket, kWide);
  node.nic = link(topology::LinkKind::network, kWide);
  topology::FabricSpec fabric;
  fabric.name = "fabric";
  fabric.kind = "one-switch";
  return topology::build_cluster(node, fabric, machine.nodes * machine.gpus);
}

/// How much longer the operation takes with the share than without it.
double slower(const HostMachine& machine, Operation operation, const std::string& algorithm = "ring") {
  const topology::Cluster cluster = build_host(machine);
  Timer whole(cluster, {}), share(cluster, {.host_copy_efficiency = kShare});
  const Group all = gpus(machine.nodes * machine.gpus);
  return one(share, operation, kMessage, all, algorithm).duration /
         one(whole, operation, kMessage, all, algorithm).duration;
}

TEST(BouncedCopies, AGpuThatSendsAndReceivesReachesTheShare) {
  Timer timer(build_host({}), {.host_copy_efficiency = kShare});
  EXPECT_EQ(one(timer, Operation::all_reduce, kMessage, gpus(2), "ring").duration, kMessage / (kPcie * kShare));
  for (const Operation operation : {Operation::all_reduce, Operation::all_gather, Operation::reduce_scatter})
    EXPECT_DOUBLE_EQ(slower({}, operation), 1 / kShare) << name(operation);
  EXPECT_DOUBLE_EQ(slower({}, Operation::all_to_all, "direct"), 1 / kShare);
}

TEST(BouncedCopies, AGpuThatDoesOneOfBothReachesTheWholeRate) {
  for (const std::uint32_t gpus_per_switch : {0u, 2u})
    for (const Operation operation : {Operation::broadcast, Operation::reduce})
      EXPECT_DOUBLE_EQ(slower({.gpus_per_switch = gpus_per_switch}, operation), 1) << name(operation);
}

// Of a chain of three the one in the middle receives what it sends on.
TEST(BouncedCopies, TheMiddleOfAChainSendsAndReceives) { EXPECT_GT(slower({.gpus = 3}, Operation::broadcast), 1.5); }

// Behind a PCIe switch two GPUs share the link to the CPU: what they lose, they lose there.
TEST(BouncedCopies, ASharedLinkToTheCpuCarriesTheShare) {
  Timer timer(build_host({.gpus_per_switch = 2}), {.host_copy_efficiency = kShare});
  EXPECT_EQ(one(timer, Operation::all_reduce, kMessage, gpus(2), "ring").duration, kMessage / (kPcie * kShare) * 2);
}

TEST(BouncedCopies, CopiesFromGpuToGpuAndNvlinkToTheHostLoseNothing) {
  for (const std::uint32_t gpus_per_switch : {0u, 2u})
    EXPECT_DOUBLE_EQ(slower({.gpus_per_switch = gpus_per_switch, .p2p = true}, Operation::all_reduce), 1);
  EXPECT_DOUBLE_EQ(slower({.kind = topology::LinkKind::c2c}, Operation::all_reduce), 1);
}

// Without peer-to-peer no adapter reaches a GPU either: the bytes lie in host memory on both nodes.
TEST(BouncedCopies, AdaptersWithoutGpuDirectAreReachedThroughHostMemory) {
  EXPECT_DOUBLE_EQ(slower({.gpus = 1, .nodes = 4}, Operation::all_reduce), 1 / kShare);
  EXPECT_DOUBLE_EQ(slower({.gpus = 1, .nodes = 2}, Operation::broadcast), 1);
  EXPECT_DOUBLE_EQ(slower({.gpus = 1, .nodes = 4, .p2p = true}, Operation::all_reduce), 1);
}

// Through host memory an adapter has what the GPU moves there, on nodes without peer-to-peer and behind CPUs.
TEST(BouncedCopies, AdaptersBehindACpuAreReachedThroughHostMemoryAtTheStagingRate) {
  constexpr Bandwidth kStaging{4e9};
  const auto time = [&](const HostMachine& machine, Transport transport) {
    Timer timer(build_host(machine), std::move(transport));
    return one(timer, Operation::all_reduce, kMessage, gpus(machine.nodes * machine.gpus), "ring").duration;
  };
  const auto staged = [&](GdrLevel level) {
    Transport transport{.host_staging_bandwidth = kStaging};
    transport.forced.net_gdr_level = level;
    return transport;
  };
  const HostMachine two{.gpus = 1, .nodes = 2}, direct{.gpus = 1, .nodes = 2, .p2p = true};
  EXPECT_EQ(time(two, staged(GdrLevel::pxb)), kMessage / kStaging);
  EXPECT_EQ(time(direct, staged(GdrLevel::pxb)), kMessage / kStaging);
  EXPECT_EQ(time(direct, staged(GdrLevel::phb)), kMessage / kPcie);
  EXPECT_EQ(time(two, staged(GdrLevel::sys)), kMessage / kStaging);  // no GPUDirect without peer-to-peer
  // Behind a PCIe switch of its own the adapter reads the GPU.
  const HostMachine behind_a_switch{.gpus = 1, .gpus_per_switch = 1, .nodes = 2, .p2p = true};
  EXPECT_EQ(time(behind_a_switch, staged(GdrLevel::pxb)), kMessage / kPcie);
  // Copies from GPU to GPU are no staging.
  EXPECT_EQ(time({.gpus = 2}, staged(GdrLevel::pxb)), kMessage / kPcie);
}

// The adapter hangs off the other socket.
TEST(BouncedCopies, GpuDirectAcrossSocketsNeedsTheLevelSys) {
  const auto time = [&](GdrLevel level) {
    Transport transport{.host_staging_bandwidth = Bandwidth{4e9}};
    transport.forced.net_gdr_level = level;
    topology::NodeSpec node;
    node.name = "node";
    node.builder = "graph";
    node.gpus = 1;
    const auto link = [](topology::LinkKind kind, Bandwidth rate) {
      return topology::LinkType{.name = "link", .kind = kind, .bandwidth = rate, .source = {}};
    };
    node.devices = {{"near", "cpu"}, {"far", "cpu"}, {"gpu", "gpu"}, {"nic", "nic"}};
    node.links = {{"near", "gpu", link(topology::LinkKind::pcie, kPcie)},
                  {"far", "nic", link(topology::LinkKind::pcie, kPcie)},
                  {"near", "far", link(topology::LinkKind::socket, kWide)}};
    node.nic = link(topology::LinkKind::network, kWide);
    topology::FabricSpec fabric;
    fabric.name = "fabric";
    fabric.kind = "one-switch";
    Timer timer(topology::build_cluster(node, fabric, 2), transport);
    return one(timer, Operation::all_reduce, kMessage, gpus(2), "ring").duration;
  };
  EXPECT_EQ(time(GdrLevel::phb), kMessage / Bandwidth{4e9});
  EXPECT_EQ(time(GdrLevel::sys), kMessage / kPcie);
}

TEST(BouncedCopies, FoldedEqualsUnfoldedAndRatesScaleTimes) {
  for (const HostMachine& machine : {HostMachine{.gpus = 8, .sockets = 2}, HostMachine{.gpus = 8, .gpus_per_switch = 4},
                                     HostMachine{.gpus = 4, .sockets = 2, .gpus_per_switch = 2, .nodes = 16}}) {
    HostMachine twice = machine;
    twice.faster = 2;
    Timer timer(build_host(machine), {.host_copy_efficiency = kShare});
    Timer fast(build_host(twice), {.host_copy_efficiency = kShare});
    const Group all = gpus(machine.nodes * machine.gpus);
    for (const Operation operation : {Operation::all_reduce, Operation::all_gather, Operation::all_to_all}) {
      const Time folded = one(timer, operation, kMessage, all, "auto").duration;
      EXPECT_EQ(folded, one(timer, operation, kMessage, all, "auto", false).duration) << name(operation);
      EXPECT_NEAR(folded / one(fast, operation, kMessage, all, "auto").duration, 2, 1e-6) << name(operation);
    }
  }
}

}  // namespace
}  // namespace stepcast::collectives
