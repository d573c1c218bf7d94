// Two all-reduces over the same adapters, as a step lets them meet: they take as long as the timer gives them together.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <vector>

#include "tests/language/fixtures.h"
#include "workload/run.h"

namespace stepcast::app {
namespace {

using collectives::Group;
using collectives::Operation;

struct Machines {
  const char* name;
  const char* node;
  std::uint32_t nodes, gpus_per_node;
  std::int64_t bytes;
};
void PrintTo(const Machines& machines, std::ostream* out) { *out << machines.name; }

class JointAllReduces : public testing::TestWithParam<Machines> {};

TEST_P(JointAllReduces, TakeAsLongAsTheTimerTimesThemTogether) {
  const Machines& m = GetParam();
  const schedules::Scenario scenario = language::small_with(
      fmt::format("cluster: {{node: {}, nodes: {}, nics_per_node: 1}}\ntraining: {{global_batch: {}}}", m.node, m.nodes,
                  m.nodes * m.gpus_per_node));
  const workload::Machine machine(machine_of(scenario));
  // Over the first GPU of every node, and over the second.
  std::vector<Group> both(2);
  for (std::uint32_t node = 0; node < m.nodes; ++node)
    for (const std::uint32_t beside : {0u, 1u})
      both[beside].push_back(topology::GpuId{node * m.gpus_per_node + beside});
  std::vector<workload::Communication> each;
  for (const Group& group : both)
    each.push_back({{{.operation = Operation::all_reduce,
                      .bytes = {m.bytes},
                      .groups = std::make_shared<const std::vector<Group>>(1, group)}}});
  const workload::Flows flows(machine, each, {});
  workload::Program program;
  const sim::TaskId first = program.communicate(program.add_stream(), workload::CommunicationId{0});
  program.communicate(program.add_stream(), workload::CommunicationId{1});
  const sim::Timeline timeline = run(program, flows);
  const double joint = to_seconds(timeline.finish[sim::index(first)]);
  // "library": what a step takes, which need not be the fastest.
  const double timed = to_seconds(machine.timer().time(Operation::all_reduce, {m.bytes}, both, "library").duration);
  const double alone = to_seconds(flows.alone(workload::CommunicationId{0}));
  RecordProperty("alone_us", fmt::format("{:.1f}", alone * 1e6));
  RecordProperty("joint_us", fmt::format("{:.1f}", joint * 1e6));
  RecordProperty("timed_us", fmt::format("{:.1f}", timed * 1e6));
  EXPECT_NEAR(joint / timed, 1, 0.03) << alone;
  EXPECT_GT(timed, alone * 1.2);
}

INSTANTIATE_TEST_SUITE_P(All, JointAllReduces,
                         testing::Values(Machines{"EightDgxH100", "dgx-h100", 8, 8, 256 << 20},
                                         Machines{"EightDgxH100At16MiB", "dgx-h100", 8, 8, 16 << 20},
                                         Machines{"TwoRacksOfGb200", "gb200-nvl72", 2, 72, 256 << 20},
                                         Machines{"TwoRacksOfGb200At16MiB", "gb200-nvl72", 2, 72, 16 << 20}),
                         [](const auto& machines) { return std::string(machines.param.name); });

}  // namespace
}  // namespace stepcast::app
