// Groups that run the same collective over one card, each a communication of its own.

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tests/workload/machine_of_boxes.h"
#include "workload/run.h"

namespace stepcast::workload {
namespace {

using collectives::Group;
using collectives::Operation;
using topology::GpuId;

constexpr Bytes kMessage{1 << 26};
const std::vector<Group> kTwo = {{GpuId{0}, GpuId{8}}, {GpuId{1}, GpuId{9}}};

std::vector<Communication> of_each(Operation operation = Operation::all_reduce) {
  std::vector<Communication> out;
  for (std::size_t own = 0; own < kTwo.size(); ++own) {
    std::vector<Group> own_first = kTwo;
    std::swap(own_first.front(), own_first[own]);
    out.push_back({{{.operation = operation, .bytes = kMessage, .groups = test::groups(own_first)}}});
  }
  return out;
}

/// What the first takes if the second begins so much later.
Time first_of_two(const Flows& flows, Time later) {
  Program program;
  const sim::TaskId first = program.communicate(program.add_stream(), CommunicationId{0});
  const sim::StreamId other = program.add_stream();
  program.kernels(other, later);
  program.communicate(other, CommunicationId{1});
  return run(program, flows).finish[sim::index(first)];
}

TEST(Siblings, ThatAreLateDoNotHoldUpOthers) {
  const Machine machine(test::boxes(24, 1));
  const collectives::Timer& timer = machine.timer();
  const Time together = timer.time(Operation::all_reduce, kMessage, kTwo).duration,
             alone = timer.time(Operation::all_reduce, kMessage, std::span(kTwo).first(1)).duration;
  ASSERT_GT(together / alone, 1.5);
  const Flows flows(machine, of_each(), {.unfolded = true, .late = true});
  EXPECT_NEAR(flows.alone(CommunicationId{0}) / alone, 1, 0.001);
  EXPECT_NEAR(to_seconds(first_of_two(flows, together)), to_seconds(flows.alone(CommunicationId{0})),
              1.5e-12);  // rounded
  EXPECT_NEAR(first_of_two(flows, {}) / together, 1, 0.01);
  // Where none is late they take what they take together.
  EXPECT_EQ(Flows(machine, of_each(), {.unfolded = true}).alone(CommunicationId{0}), together);
}

// Of other messages one stays in its node and one does not, so ranks that sent them are late for the messages that
// share a card, though these take the same time.
TEST(Siblings, MessagesThatTakeTheSameTimeMeetOnTheLinksWhereOthersMakeThemLate) {
  const Machine machine(test::boxes(24, 1));
  const collectives::Timer& timer = machine.timer();
  const Time together = timer.time(Operation::send_recv, kMessage, kTwo).duration,
             alone = timer.time(Operation::send_recv, kMessage, std::span(kTwo).first(1)).duration;
  ASSERT_GT(together / alone, 1.5);
  std::vector<Communication> messages = of_each(Operation::send_recv);
  EXPECT_EQ(Flows(machine, messages, {.unfolded = true}).alone(CommunicationId{0}), together);
  messages.push_back({{{.operation = Operation::send_recv,
                        .bytes = kMessage,
                        .groups = test::groups({{GpuId{2}, GpuId{3}}, {GpuId{4}, GpuId{12}}})}}});
  const Flows flows(machine, messages, {.unfolded = true});
  EXPECT_EQ(flows.alone(CommunicationId{0}), alone);
  EXPECT_EQ(first_of_two(flows, together), alone);
  EXPECT_NEAR(first_of_two(flows, {}) / together, 1, 0.01);
}

}  // namespace
}  // namespace stepcast::workload
