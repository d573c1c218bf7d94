#include "calibrate/fit/joint_fit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "calibrate/fit/neutral_start.h"
#include "tests/collectives/fixtures.h"
#include "tests/sanitized.h"

namespace stepcast::calibrate {
namespace {

using collectives::Operation;
using collectives::Transport;

Transport of_stack(std::int64_t launch_us) {
  Transport t;
  t.channels = 8;
  t.launch = microseconds(launch_us);
  t.ramp = microseconds(30);
  t.nvlink_step = nanoseconds(1500);
  t.nvlink_efficiency = 0.9;
  t.ll.launch = microseconds(6);
  t.ll.nvlink_step = nanoseconds(300);
  t.ll.share = 0.3;
  t.network_of_links = true;
  return t;
}

topology::NcclOverNetwork of_network(std::int64_t simple_us, double share) {
  return {microseconds(simple_us), microseconds(simple_us / 2), microseconds(simple_us / 4), microseconds(simple_us),
          share};
}

/// What a log of this machine would show.
Recording recorded(const std::string& machine, const std::string& stack, const Transport& transport,
                   const std::string& link, const topology::NcclOverNetwork& network, std::uint32_t nodes) {
  collectives::test::Machine hardware;
  hardware.nodes = nodes;
  hardware.nics = 2;  // so that the network is what all wait for
  Recording recording{.curve = {.name = machine,
                                .operation = Operation::all_reduce,
                                .cluster = collectives::test::build(hardware),
                                .group = collectives::test::gpus(8 * nodes),
                                .gpus_per_process = 1,
                                .algorithm = "ring",
                                .points = {}},
                      .stack = stack,
                      .link = nodes > 1 ? link : "",
                      .machine = machine,
                      .fitted = true};
  for (std::int64_t size = 8; size <= std::int64_t{1} << 30; size *= 8) recording.curve.points.push_back({{size}, {}});
  const std::vector<Time> times = predict(recording.curve, over(transport, network));
  for (std::size_t i = 0; i < times.size(); ++i) recording.curve.points[i].time = times[i];
  return recording;
}

const FittedConstant& named(const std::vector<FittedConstant>& constants, std::string_view name) {
  const auto found =
      std::ranges::find(constants, name, [](const FittedConstant& c) { return std::string_view(c.name); });
  if (found == constants.end()) throw std::runtime_error("no such constant");
  return *found;
}

/// Two stacks, and three networks of two families; nobody recorded the third. Fits take long, so one is looked at from
/// three sides.
TEST(JointFit, TellsNetworksFromStacksAndTakesWhatNobodyRecordedFromTheFamily) {
  if (test::kSanitized) GTEST_SKIP() << "a fit's digits, not memory: checked in release";
  const Transport older = of_stack(20), newer = of_stack(10);
  const topology::NcclOverNetwork slow = of_network(20, 0.7), fast = of_network(8, 0.95);
  const std::vector<Recording> recordings = {
      recorded("a", "older", older, "slow", slow, 1), recorded("b", "older", older, "slow", slow, 2),
      recorded("c", "newer", newer, "fast", fast, 1), recorded("d", "newer", newer, "fast", fast, 2),
      recorded("e", "older", older, "fast", fast, 4)};
  JointStart start;
  start.stacks = {{"older", neutral_start(older)}, {"newer", neutral_start(newer)}};
  start.families = {{"slow", "one"}, {"fast", "other"}, {"unknown", "other"}};
  const JointFit fit = fit_together(recordings, start, true);

  // Each network's constants are its own, whichever stack recorded it.
  EXPECT_NEAR(fit.links.at("slow").nccl.share, 0.7, 0.03);
  EXPECT_NEAR(fit.links.at("fast").nccl.share, 0.95, 0.03);
  EXPECT_NEAR(to_seconds(fit.links.at("slow").nccl.ll) * 1e6, 5, 1.5);
  EXPECT_NEAR(to_seconds(fit.links.at("fast").nccl.ll) * 1e6, 2, 1.5);
  EXPECT_NEAR(fit.stacks.at("older").transport.nvlink_efficiency, 0.9, 0.03);
  EXPECT_TRUE(fit.stacks.at("newer").transport.network_of_links);
  EXPECT_EQ(fit.stacks.at("newer").transport.network_step, Time{});
  EXPECT_EQ(fit.machines.size(), 5u);

  // A network without a recording is drawn to its family.
  const LinkFit& unknown = fit.links.at("unknown");
  EXPECT_NEAR(unknown.nccl.share, fit.links.at("fast").nccl.share, 0.05);
  EXPECT_GT(unknown.nccl.share, fit.links.at("slow").nccl.share);
  EXPECT_FALSE(named(unknown.constants, "share").identified);
  EXPECT_EQ(named(unknown.constants, "share").why, "no recording depends on it");
  EXPECT_TRUE(named(fit.links.at("fast").constants, "share").identified);

  // Each machine is left out once. d's network was recorded by e as well, b's by nobody else.
  ASSERT_EQ(fit.left_out.size(), 5u);
  const auto worst = [&](std::size_t r) {
    double most = 0;
    for (std::size_t i = 0; i < fit.left_out[r].size(); ++i)
      most = std::max(most, std::abs(std::log(fit.left_out[r][i] / fit.predicted[r][i])));
    return most;
  };
  EXPECT_LT(worst(3), 0.1);
  EXPECT_GT(worst(1), 0.1);
}

}  // namespace
}  // namespace stepcast::calibrate
