#include "workload/program.h"

#include <gtest/gtest.h>

#include <array>
#include <utility>
#include <vector>

#include "tests/workload/machine_of_boxes.h"
#include "workload/run.h"

namespace stepcast::workload {
namespace {

using collectives::Operation;
using sim::TaskId;

constexpr CommunicationId kFirst{0}, kSecond{1};

class Programs : public testing::Test {
 protected:
  /// From a GPU to another.
  static Communication message(std::uint32_t from, std::uint32_t to, std::int64_t bytes) {
    return {{{.operation = Operation::send_recv,
              .bytes = {bytes},
              .groups = test::groups({{topology::GpuId{from}, topology::GpuId{to}}})}}};
  }
  Flows flows(const std::vector<Communication>& communications) { return Flows(machine_, communications, {}); }

  const Machine machine_{test::boxes(24, 1)};
  Program program_;
  const sim::StreamId streams_[2]{program_.add_stream(), program_.add_stream()};

  static Time duration(const sim::Timeline& timeline, TaskId task) {
    return timeline.finish[sim::index(task)] - timeline.start[sim::index(task)];
  }
};

TEST_F(Programs, ACommunicationAloneTakesTheTimeItWasTimedAt) {
  const Flows two = flows({message(0, 8, 1 << 26), message(16, 8, 1 << 26)});
  const TaskId before = program_.kernels(streams_[0], {1000}), sent = program_.communicate(streams_[0], kFirst);
  const sim::Timeline timeline = run(program_, two);
  EXPECT_EQ(duration(timeline, sent), two.alone(kFirst));
  EXPECT_EQ(timeline.start[sim::index(sent)], timeline.finish[sim::index(before)]);
  EXPECT_EQ(program_.communication(sent), kFirst);
  EXPECT_EQ(program_.communication(before), std::nullopt);
}

TEST_F(Programs, TwoThatCrossOneLinkShareIt) {
  const Flows two = flows({message(0, 8, 1 << 26), message(16, 8, 1 << 26)});  // both into the second box's card
  const TaskId a = program_.communicate(streams_[0], kFirst), b = program_.communicate(streams_[1], kSecond);
  const sim::Timeline timeline = run(program_, two);
  EXPECT_GT(duration(timeline, a), Time{two.alone(kFirst).value * 19 / 10});
  EXPECT_LE(duration(timeline, a), two.alone(kFirst) * 2);
  EXPECT_EQ(duration(timeline, a), duration(timeline, b));
}

TEST_F(Programs, TwoThatCrossNoLinkInCommonDoNotMeet) {
  const Flows two = flows({message(0, 8, 1 << 26), message(8, 16, 1 << 26)});  // a card sends and receives at once
  const TaskId a = program_.communicate(streams_[0], kFirst), b = program_.communicate(streams_[1], kSecond);
  const sim::Timeline timeline = run(program_, two);
  EXPECT_EQ(duration(timeline, a), two.alone(kFirst));
  EXPECT_EQ(duration(timeline, b), two.alone(kSecond));
}

// Of four messages into one card, three from one box: each gets a quarter, not each box a half.
TEST_F(Programs, ConnectionsShareALinkEvenly) {
  Communication three = message(16, 8, 1 << 26);
  auto groups = *three.collectives.front().groups;
  groups.push_back({topology::GpuId{17}, topology::GpuId{9}});
  groups.push_back({topology::GpuId{18}, topology::GpuId{10}});
  three.collectives.front().groups = test::groups(std::move(groups));
  const Flows two = flows({message(0, 8, 1 << 26), three});
  const TaskId a = program_.communicate(streams_[0], kFirst), b = program_.communicate(streams_[1], kSecond);
  const sim::Timeline timeline = run(program_, two);
  EXPECT_NEAR(to_seconds(duration(timeline, a)) / to_seconds(two.alone(kFirst)), 4, 0.05);
  EXPECT_NEAR(to_seconds(duration(timeline, a)) / to_seconds(duration(timeline, b)), 1, 0.02);
}

// As the timer gives them together: over the first and over the second GPU of every box.
TEST_F(Programs, TwoAllReducesOverOneCardTakeAsLongAsTheTimerTimesThemTogether) {
  for (const std::int64_t bytes : {std::int64_t{1} << 22, std::int64_t{1} << 28}) {
    std::vector<collectives::Group> both(2);
    for (const std::uint32_t gpu : {0u, 8u, 16u})
      for (const std::uint32_t beside : {0u, 1u}) both[beside].push_back(topology::GpuId{gpu + beside});
    const auto alone = [&](const collectives::Group& group) {
      return Communication{{{.operation = Operation::all_reduce,
                             .bytes = {bytes},
                             .groups = test::groups({group}),
                             .algorithm = "ring"}}};
    };
    const Flows two = flows({alone(both[0]), alone(both[1])});
    Program program;
    const TaskId a = program.communicate(program.add_stream(), kFirst);
    program.communicate(program.add_stream(), kSecond);
    const Time together = machine_.timer().time(Operation::all_reduce, {bytes}, both, "ring").duration;
    EXPECT_NEAR(to_seconds(duration(run(program, two), a)) / to_seconds(together), 1, 0.03) << bytes;
    EXPECT_GT(together, two.alone(kFirst));
  }
}

// A ring waits before each of its steps: three ranks take four in an all_reduce, for which two bursts stand, and two in
// a gather. What is cut into pieces waits in front alone, and so does a ring that meets nothing.
TEST_F(Programs, ARingThatMeetsOthersMovesInBursts) {
  const auto over_three = [](Operation operation, std::string_view algorithm) {
    return Communication{{{.operation = operation,
                           .bytes = {1 << 24},
                           .groups = test::groups({{topology::GpuId{0}, topology::GpuId{8}, topology::GpuId{16}}}),
                           .algorithm = algorithm}}};
  };
  MachineSpec spec = test::boxes(24, 1);
  spec.transport.launch = microseconds(5);
  spec.transport.network_step = microseconds(100);
  const Machine machine(spec);
  const auto bursts = [&](const Communication& communication) {
    const Flows met(
        machine, std::vector{communication, message(1, 9, 1 << 26), message(10, 17, 1 << 26), message(18, 2, 1 << 26)},
        {});
    EXPECT_TRUE(met.shares(kFirst));
    Time all{};
    for (std::size_t flow = 0; flow < met.flows(kFirst); ++flow)
      all = all + met.route(kFirst, flow, 0).latency + Time{met.amount(kFirst, flow).value};
    const Flows alone(machine, std::vector{communication}, {});
    EXPECT_EQ(alone.flows(kFirst), 1u);
    EXPECT_EQ(all, alone.alone(kFirst));
    EXPECT_EQ(met.alone(kFirst), alone.alone(kFirst));
    for (std::size_t flow = 1; flow < met.flows(kFirst); ++flow) {
      EXPECT_GT(met.route(kFirst, 0, 0).latency, met.route(kFirst, flow, 0).latency);  // launch is in front of all
      EXPECT_GT(met.route(kFirst, flow, 0).latency, Time{});
    }
    return met.flows(kFirst);
  };
  EXPECT_EQ(bursts(over_three(Operation::all_reduce, "ring")), 2u);
  EXPECT_EQ(bursts(over_three(Operation::all_gather, "ring")), 2u);
  EXPECT_EQ(bursts(over_three(Operation::all_reduce, "double-binary-tree")), 1u);
}

// A stream's communications never run at once, so that they cannot fill a link together.
TEST_F(Programs, ThoseOfOneTurnShareNoLink) {
  const auto in_turn = [](Communication communication, std::uint32_t turn) {
    communication.turn = turn;
    return communication;
  };
  const Communication first = message(0, 8, 1 << 26), second = message(16, 8, 1 << 26);
  EXPECT_FALSE(flows({in_turn(first, 1), in_turn(second, 1)}).shares(kFirst));
  EXPECT_TRUE(flows({in_turn(first, 1), in_turn(second, 2)}).shares(kFirst));
}

TEST_F(Programs, KernelsOnAnEngineAndTrafficBesideThemSlowEachOther) {
  const Flows one = flows({message(0, 8, 1 << 28)});
  const EngineId engine = program_.add_engine();
  const TaskId sent = program_.communicate(std::span(streams_).subspan(1, 1), kFirst, std::array{engine}, 0.25);
  const Time half{one.alone(kFirst).value / 2};
  const TaskId kernels = program_.kernels(streams_[0], engine, half);
  const sim::Timeline timeline = run(program_, one);
  EXPECT_NEAR(to_seconds(duration(timeline, sent) - one.alone(kFirst)), to_seconds(duration(timeline, kernels) - half),
              1e-9);                                                                    // what is lost while both run
  EXPECT_NEAR(to_seconds(duration(timeline, kernels)) / to_seconds(half), 1.25, 0.15);  // none before the first byte
  EXPECT_GT(duration(timeline, kernels), half);
}

TEST_F(Programs, CollectivesOfACommunicationRunOneAfterTheOther) {
  Communication both = message(0, 8, 1 << 26);
  both.collectives.push_back(message(8, 16, 1 << 20).collectives.front());
  const Flows three = flows({message(0, 8, 1 << 26), message(8, 16, 1 << 20), both});
  EXPECT_EQ(three.alone(CommunicationId{2}), three.alone(kFirst) + three.alone(kSecond));
}

// The long message from the first card meets the one beside it there, not the short one behind it elsewhere.
TEST_F(Programs, EachOfTheCollectivesMeetsOthersOnItsOwnLinks) {
  Communication both = message(0, 8, 1 << 26);
  both.collectives.push_back(message(8, 16, 1 << 26).collectives.front());
  const Flows two = flows({both, message(8, 16, 1 << 26)});
  ASSERT_EQ(two.flows(kFirst), 2u);
  const TaskId first = program_.communicate(streams_[0], kFirst), second = program_.communicate(streams_[1], kSecond),
               after = program_.kernels(streams_[0], {1'000'000});
  const sim::Timeline timeline = run(program_, two);
  // The second message has the link for itself until it is passed on what the first one brought.
  EXPECT_EQ(duration(timeline, second), two.alone(kSecond));
  EXPECT_NEAR(to_seconds(duration(timeline, first)), to_seconds(two.alone(kFirst)), 1e-9);
  EXPECT_EQ(timeline.start[sim::index(after)], timeline.finish[sim::index(first)]);
}

// What is gathered of a message comes after it, and meets what is on the receiver's links, not what the message meets.
TEST_F(Programs, WhatTheReceiverDoesWithItMeetsOthersThere) {
  Communication gathered = message(0, 8, 1 << 26);
  gathered.at_receiver = message(8, 9, 1 << 26).collectives;
  const Flows two = flows({gathered, message(10, 9, 1 << 29)});
  const Flows parts = flows({message(0, 8, 1 << 26), message(8, 9, 1 << 26)});
  EXPECT_EQ(two.alone(kFirst), parts.alone(kFirst) + parts.alone(kSecond));
  ASSERT_EQ(two.flows(kFirst), 2u);
  const TaskId first = program_.communicate(streams_[0], kFirst), second = program_.communicate(streams_[1], kSecond);
  const sim::Timeline timeline = run(program_, two);
  // Half of the link is left for what is gathered, as soon as it begins, and the other message waits for as long.
  ASSERT_GT(two.alone(kSecond), two.alone(kFirst));
  EXPECT_NEAR(duration(timeline, first) / (two.alone(kFirst) + parts.alone(kSecond)), 1, 0.01);
  EXPECT_NEAR(duration(timeline, second) / (two.alone(kSecond) + parts.alone(kSecond)), 1, 0.01);
}

// It delays the receivers by a hundredth of their time at most if it meets what it would, so nobody looks for that.
TEST_F(Programs, WhatTheReceiverDoesInNoTimeMeetsNothing) {
  const Flows parts = flows({message(0, 8, 1 << 26), message(8, 9, 1 << 26)});
  Communication gathered = message(0, 8, 1 << 26);
  gathered.at_receiver = message(8, 9, 1 << 26).collectives;
  gathered.receivers_compute = parts.alone(kSecond) * 99;
  EXPECT_EQ(flows({gathered, message(10, 9, 1 << 29)}).flows(kFirst), 2u);
  gathered.receivers_compute = parts.alone(kSecond) * 100;
  const Flows two = flows({gathered, message(10, 9, 1 << 29)});
  EXPECT_EQ(two.flows(kFirst), 1u);
  EXPECT_FALSE(two.shares(kSecond));
  EXPECT_EQ(two.alone(kFirst), parts.alone(kFirst) + parts.alone(kSecond));
}

TEST_F(Programs, AlikeAreKernelsOfOneLengthAndRunsOfOneCommunication) {
  const TaskId a = program_.kernels(streams_[0], {5}), b = program_.kernels(streams_[1], {5}),
               c = program_.kernels(streams_[0], {6}), d = program_.communicate(streams_[0], kFirst),
               e = program_.communicate(streams_[1], kFirst), f = program_.communicate(streams_[1], kSecond);
  EXPECT_TRUE(program_.alike(a, b));
  EXPECT_FALSE(program_.alike(a, c));
  EXPECT_TRUE(program_.alike(d, e));
  EXPECT_FALSE(program_.alike(d, f));
  EXPECT_FALSE(program_.alike(a, d));
}

}  // namespace
}  // namespace stepcast::workload
