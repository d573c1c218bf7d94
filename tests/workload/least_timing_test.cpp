#include "workload/least_timing.h"

#include <gtest/gtest.h>

#include "tests/schedules/scenarios.h"
#include "workload/machines.h"

namespace stepcast::workload {
namespace {

using collectives::Group;
using topology::GpuId;

/// Of so many GPUs each, from GPU to GPU `apart`.
std::shared_ptr<const std::vector<Group>> groups_of(std::uint32_t groups, std::uint32_t size, std::uint32_t apart) {
  std::vector<Group> all(groups);
  for (std::uint32_t g = 0; g < groups; ++g)
    for (std::uint32_t i = 0; i < size; ++i) all[g].push_back(GpuId{g + i * apart});
  return std::make_shared<const std::vector<Group>>(std::move(all));
}

TEST(LeastTiming, IsThatOfTheGroupAloneOrOfTheFirstToEnd) {
  schedules::Scenario s = schedules::round_numbers(16);
  s.cluster.node.nics = 3;  // so that some of 8 groups share one and some have less company
  Machines machines;
  const auto machine = machines.of(machine_of(s));
  const auto time = [&](std::span<const Group> groups) -> const collectives::Timing& {
    return machine->timer().time(collectives::Operation::all_reduce, Bytes{64 << 20}, groups, "ring", false);
  };
  const auto groups = groups_of(8, 2, 8);
  const collectives::Timing &together = time(*groups), &alone = time(std::span(*groups).first(1));
  ASSERT_FALSE(together.alike());
  const Collective collective{collectives::Operation::all_reduce, Bytes{64 << 20}, groups, 1, "ring"};
  const Time least = least_timing(collective, machine->timer()).duration;
  EXPECT_LT(least, together.duration);
  EXPECT_EQ(least, std::min(alone.duration, scaled(together, 1 - together.spread).duration));
}

TEST(LeastTiming, OfGroupsThatAreLateIsThatOfTheGroupAlone) {
  schedules::Scenario s = schedules::round_numbers(16);
  s.cluster.node.nics = 1;  // which both groups share alike
  Machines machines;
  const auto machine = machines.of(machine_of(s));
  const auto groups = groups_of(2, 2, 8);
  const auto time = [&](std::span<const Group> of) {
    return machine->timer().time(collectives::Operation::all_reduce, Bytes{64 << 20}, of, "ring", false).duration;
  };
  const Collective collective{collectives::Operation::all_reduce, Bytes{64 << 20}, groups, 1, "ring"};
  EXPECT_EQ(least_timing(collective, machine->timer()).duration, time(*groups));
  EXPECT_EQ(least_timing(collective, machine->timer(), true).duration, time(std::span(*groups).first(1)));
  EXPECT_LT(time(std::span(*groups).first(1)), time(*groups));
}

TEST(LeastTiming, OfGroupsThatAreAlikeIsThatOfAll) {
  const schedules::Scenario s = schedules::round_numbers(16);  // an adapter for each GPU
  Machines machines;
  const auto machine = machines.of(machine_of(s));
  const Collective collective{collectives::Operation::all_reduce, Bytes{64 << 20}, groups_of(8, 2, 8), 1, "ring"};
  EXPECT_EQ(
      least_timing(collective, machine->timer()).duration,
      machine->timer().time(collective.operation, collective.bytes, *collective.groups, collective.algorithm).duration);
}

}  // namespace
}  // namespace stepcast::workload
