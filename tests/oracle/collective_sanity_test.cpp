// What holds of collectives on any machine, measured or not: on every node of configs/nodes/ that a fabric joins, 2 to
// 64 of them (of racks 16), with the stack and the network that its files name.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collectives/operation.h"
#include "collectives/timing/timer.h"
#include "language/configs/cluster.h"
#include "language/configs/config_folders.h"
#include "language/configs/files.h"
#include "language/configs/usual_stack.h"
#include "language/core/library.h"
#include "language/core/read_mapping.h"
#include "tests/long.h"

namespace stepcast {
namespace {

using collectives::Operation;

constexpr const char* kConfigs = STEPCAST_SOURCE_DIR "/configs";
constexpr std::uint32_t kMostGpus = 1152;  // a node may be a rack of 72
constexpr std::array kOperations = {Operation::all_reduce, Operation::all_gather, Operation::reduce_scatter};

template <class T>
T config(const language::Table<T>& table, const language::Schema& schema, const std::string& name,
         language::Library& library) {
  T value;
  const language::Node scalar = language::make_scalar(name, {"test", 0, 0});
  language::read(table, library.expand_block(scalar, schema, ""), "", library, value);
  return value;
}

/// A kind of machine with its own fabric and stack.
struct Machine {
  std::string name;
  topology::NodeSpec node;
  topology::FabricSpec fabric;
  collectives::Transport transport;

  std::vector<std::uint32_t> counts() const {
    std::vector<std::uint32_t> nodes = {2, 8, 32};
    if (test::long_run()) nodes = {2, 4, 8, 16, 32, 64};
    std::erase_if(nodes, [&](std::uint32_t n) { return n * node.gpus > kMostGpus; });
    return nodes;
  }
  topology::Cluster cluster(std::uint32_t nodes) const {
    return topology::build_cluster(node, fabric, nodes * node.gpus);
  }
  collectives::Timer timer(std::uint32_t nodes) const { return collectives::Timer(cluster(nodes), transport, true); }
  collectives::Timing time(const collectives::Timer& timer, std::uint32_t nodes, Operation operation,
                           Bytes size) const {
    std::vector<collectives::Group> groups(1);
    for (std::uint32_t gpu = 0; gpu < nodes * node.gpus; ++gpu) groups.front().push_back(topology::GpuId{gpu});
    return timer.time(operation, size, groups);
  }
};

/// None of a node whose file names no adapter or no fabric.
std::optional<Machine> machine_named(const std::string& name) {
  language::Library library(kConfigs);
  const language::NodeFile file = config(language::node_table(), language::node_schema(), name, library);
  const bool adapters = file.spec.nics > 0 ||
                        std::ranges::any_of(file.spec.devices, [](const auto& device) { return device.kind == "nic"; });
  if (!adapters || !file.spec.nic || file.spec.fabric.empty()) return {};
  const std::string stack =
      file.nccl.empty() ? language::usual_stack(file.spec, file.gpu.compute_capability).name : file.nccl;
  return Machine{name, file.spec,
                 config(language::fabric_table(), language::fabric_schema(), file.spec.fabric, library),
                 config(language::software_table(), language::software_schema(), stack, library).transport};
}

/// Of each node of configs/nodes/, which its test reads alone.
class EveryMachine : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    machine_ = machine_named(GetParam());
    if (!machine_) GTEST_SKIP() << "no fabric joins such nodes";
  }

  std::optional<Machine> machine_;
};

TEST_P(EveryMachine, TakesNoLessForMore) {
  const Machine& machine = *machine_;
  std::size_t turn = machine.name.size();
  for (const std::uint32_t nodes : machine.counts()) {
    const collectives::Timer timer = machine.timer(nodes);
    ++turn;
    for (const Operation operation : kOperations) {
      // One operation for each number of nodes, another one on another machine.
      if (!test::long_run() && operation != kOperations[turn % kOperations.size()]) continue;
      Time before{};
      // A rank's part has an element at least: of fewer, parts are of unlike sizes.
      const std::int64_t least = operation == Operation::all_reduce ? 8 : std::int64_t{8} * nodes * machine.node.gpus;
      for (std::int64_t size = least; size <= std::int64_t{8} << 30; size *= 4) {
        const Time time = machine.time(timer, nodes, operation, {size}).interval;
        // Channels are whole: the best number of them may cost a size a little more than the best of the next.
        EXPECT_GE(to_seconds(time), to_seconds(before) * 0.998)
            << collectives::name(operation) << " over " << nodes << " nodes, " << size << " B";
        before = time;
      }
    }
  }
}

TEST_P(EveryMachine, MovesNoMoreOverMoreNodesAndNoneBeyondItsWire) {
  const Machine& machine = *machine_;
  for (const Operation operation : kOperations) {
    const Bytes size{std::int64_t{8} << 30};
    double before = 0;
    Time took{};
    std::uint32_t fewer = 0;  // nodes that it was of
    for (const std::uint32_t nodes : machine.counts()) {
      const double ranks = nodes * machine.node.gpus;
      const collectives::Timer timer = machine.timer(nodes);
      const collectives::Timing timing = machine.time(timer, nodes, operation, size);
      const double rate = static_cast<double>(size.value) / to_seconds(timing.interval) * (ranks - 1) /
                          ranks;  // busbw, but for a factor that all have
      const std::string what = std::string(collectives::name(operation)) + " over " + std::to_string(nodes) + " nodes";
      const topology::Cluster cluster = machine.cluster(nodes);
      for (const collectives::Timing::Load& load : timing.loads) {
        EXPECT_LE(load.bytes, cluster.link_bandwidth(load.link).value * to_seconds(timing.interval) * 1.000001)
            << what << ", " << cluster.link(load.link).from;
      }
      // What is bound by the NVLinks of a node takes as long over more of them, and busbw grows with 2 (n - 1) / n.
      EXPECT_TRUE(fewer == 0 || rate <= before * 1.02 || timing.interval >= took)
          << what << ": " << rate << ", and over " << fewer << ": " << before;
      before = rate;
      took = timing.interval;
      fewer = nodes;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, EveryMachine, testing::ValuesIn(language::Library(kConfigs).names("nodes")),
                         [](const auto& machine) {
                           std::string name = machine.param;
                           std::erase_if(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; });
                           return name;
                         });

/// Networks that join machines of both generations.
TEST(NewerMachines, StartNoLaterThanOlderOnesOnTheSameFabric) {
  for (const char* network : {"infiniband-hdr", "infiniband-ndr", "efa-100g", "ethernet-400g"}) {
    language::Library library(kConfigs);
    Machine older = *machine_named("dgx-a100-80gb"), newer = *machine_named("dgx-h100");
    older.node.nic = newer.node.nic = config(language::link_table(), language::link_schema(), network, library);
    older.fabric = newer.fabric;
    for (const std::uint32_t nodes : newer.counts()) {
      const Bytes least{8};
      EXPECT_LE(newer.time(newer.timer(nodes), nodes, Operation::all_reduce, least).interval,
                older.time(older.timer(nodes), nodes, Operation::all_reduce, least).interval)
          << network << ", " << nodes << " nodes";
    }
  }
}

}  // namespace
}  // namespace stepcast
