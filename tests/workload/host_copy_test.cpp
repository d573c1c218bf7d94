// Copies between GPUs and their hosts: alone, beside each other and beside the network's traffic, as flows and as
// transfers.

#include "workload/host_copy.h"

#include <gtest/gtest.h>

#include <vector>

#include "sim/input_error.h"
#include "tests/workload/machine_of_boxes.h"
#include "workload/run.h"
#include "workload/transfers.h"

namespace stepcast::workload {
namespace {

using topology::GpuId;
using topology::ToHost;

constexpr double kPcie = 50e9, kBytes = 1 << 30;  // of test::boxes(): two GPUs and a card on each PCIe switch

class HostCopyTest : public testing::Test {
 protected:
  static Communication copy(const std::vector<std::uint32_t>& gpus, ToHost direction = ToHost::yes) {
    Communication out;
    out.copy = HostCopy{.direction = direction, .bytes = {1 << 30}, .gpus = {}};
    for (const std::uint32_t gpu : gpus) out.copy->gpus.push_back(GpuId{gpu});
    return out;
  }
  static Communication message(std::uint32_t from, std::uint32_t to) {
    return {{{.operation = collectives::Operation::send_recv,
              .bytes = {1 << 30},
              .groups = test::groups({{GpuId{from}, GpuId{to}}})}}};
  }
  double alone(const Communication& one, bool unfolded = false) const {
    return to_seconds(Flows(machine_, std::vector{one}, {.unfolded = unfolded}).alone(CommunicationId{0}));
  }
  /// All at once, by what they end at.
  std::vector<double> together(const std::vector<Communication>& all, bool transfers) const {
    Program program;
    for (std::uint32_t i = 0; i < all.size(); ++i)
      program.communicate(std::span<const sim::StreamId>{}, CommunicationId{i});
    const sim::Timeline timeline = transfers ? run_transfers(program, all, machine_, nullptr).timeline
                                             : run(program, Flows(machine_, all, {.unfolded = true}));
    std::vector<double> ends;
    for (const Time end : timeline.finish) ends.push_back(to_seconds(end));
    return ends;
  }

  const Machine machine_{test::boxes(16, 4)};
};

TEST_F(HostCopyTest, AloneFillsTheNarrowestLinkOfItsWay) {
  EXPECT_NEAR(alone(copy({0})), kBytes / kPcie, 1e-5);
  EXPECT_NEAR(alone(copy({11}, ToHost::no)), kBytes / kPcie, 1e-5);  // of another node
  Communication measured = copy({0});
  measured.copy->at_most = {20e9};
  measured.copy->latency = microseconds(30);
  EXPECT_NEAR(alone(measured), 30e-6 + kBytes / 20e9, 1e-9);
}

TEST_F(HostCopyTest, GpusOfASwitchShareItsLinkToTheHost) {
  EXPECT_NEAR(alone(copy({0, 1})), 2 * kBytes / kPcie, 1e-5);
  EXPECT_NEAR(alone(copy({0, 2})), kBytes / kPcie, 1e-5);
  EXPECT_NEAR(alone(copy({0, 1}), true), 2 * kBytes / kPcie, 1e-5);  // beside its sibling
  EXPECT_NEAR(alone(copy({0, 1, 2}), true), kBytes / kPcie, 1e-5);   // siblings are unlike: it meets them on the links
  for (const bool transfers : {false, true}) {
    const std::vector<double> ends = together({copy({0}), copy({1}), copy({2})}, transfers);
    EXPECT_NEAR(ends[0], 2 * kBytes / kPcie, 1e-5) << transfers;
    EXPECT_NEAR(ends[1], 2 * kBytes / kPcie, 1e-5) << transfers;
    EXPECT_NEAR(ends[2], kBytes / kPcie, 1e-5) << transfers;
  }
}

TEST_F(HostCopyTest, MeetsTheNetworksTrafficOnTheGpusLink) {
  const double sent = alone(message(0, 8)), copied = kBytes / kPcie;
  const std::vector<double> flows = together({message(0, 8), copy({0})}, false),
                            transfers = together({message(0, 8), copy({0})}, true),
                            apart = together({message(0, 8), copy({0}, ToHost::no)}, true);
  EXPECT_NEAR(apart[0], sent, 0.01 * sent);  // the other way is another link
  EXPECT_NEAR(apart[1], copied, 0.01 * copied);
  EXPECT_GT(transfers[1], 1.5 * copied);
  for (const std::size_t i : {0u, 1u}) EXPECT_NEAR(flows[i], transfers[i], 0.02 * transfers[i]) << i;
}

TEST_F(HostCopyTest, NeedsAWayToTheHost) {
  MachineSpec spec;
  spec.node.builder = "graph";
  spec.node.gpus = spec.gpus = 2;
  spec.node.devices = {{"a", "gpu"}, {"b", "gpu"}};
  spec.node.links = {{"a", "b", *test::boxes(8, 1).node.nvlink, 1}};
  const Machine bare(spec);
  EXPECT_THROW(HostWays(bare.cluster()).way(GpuId{0}, ToHost::yes), InputError);
}

}  // namespace
}  // namespace stepcast::workload
