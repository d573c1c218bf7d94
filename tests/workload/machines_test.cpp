#include "workload/machines.h"

#include <gtest/gtest.h>

#include "sim/input_error.h"
#include "tests/workload/machine_of_boxes.h"
#include "workload/link_capacity.h"

namespace stepcast::workload {
namespace {

using collectives::Group;
using collectives::Operation;

MachineSpec machine(std::uint32_t gpus) { return test::boxes(gpus, 8); }

std::vector<Group> all_of(const Machine& machine) {
  Group group;
  for (std::uint32_t g = 0; g < machine.cluster().gpus(); ++g) group.push_back(topology::GpuId{g});
  return {group};
}

Time all_reduce(const Machine& machine) {
  return machine.timer().time(Operation::all_reduce, {1 << 20}, all_of(machine)).duration;
}

TEST(Machine, KnowsTheCapacityOfEveryLink) {
  const Machine small(machine(16));
  ASSERT_EQ(small.link_capacities().size(), small.cluster().links());
  for (std::uint32_t link = 0; link < small.cluster().links(); ++link)
    EXPECT_EQ(small.link_capacities()[link].value, whole_link_capacity(small.cluster(), topology::LinkId{link}).value);
}

TEST(Machines, OfEqualSpecificationsAreOne) {
  Machines machines;
  const auto machine_of_16 = machines.of(machine(16));
  EXPECT_EQ(machine_of_16, machines.of(machine(16)));
  EXPECT_NE(machine_of_16, machines.of(machine(8)));
  MachineSpec slower = machine(16);
  slower.transport.launch = microseconds(1);
  EXPECT_NE(machine_of_16, machines.of(slower));
  MachineSpec part = machine(16);
  part.allocation = topology::parse_allocation("node0:0-3");
  EXPECT_NE(machine_of_16, machines.of(part));
  MachineSpec whole = machine(16);
  whole.whole_collectives = true;
  EXPECT_NE(machine_of_16, machines.of(whole));
  EXPECT_EQ(machine_of_16, machines.of(machine(16)));
}

TEST(Machines, ThoseNotAskedForLongAreDroppedButStayWithThoseWhoHoldThem) {
  Machines machines;
  const auto first = machines.of(machine(8));
  const Time time = all_reduce(*first);
  std::weak_ptr<const Machine> second = machines.of(machine(16));
  for (std::uint32_t nodes = 3; nodes < 20; ++nodes) {
    machines.of(machine(8 * nodes));
    machines.of(machine(8));  // asked for again and again
  }
  EXPECT_EQ(first, machines.of(machine(8)));
  EXPECT_TRUE(second.expired());
  EXPECT_EQ(all_reduce(*first), time);
  EXPECT_EQ(all_reduce(*machines.of(machine(16))), all_reduce(Machine(machine(16))));
}

TEST(Machines, OneThatRemembersTooMuchBeginsAnew) {
  Machines machines(100);
  const auto first = machines.of(machine(8));
  EXPECT_EQ(first, machines.of(machine(8)));
  const Time time = all_reduce(*first);
  EXPECT_GT(first->timer().remembered_bytes(), 100u);
  const auto second = machines.of(machine(8));
  EXPECT_NE(first, second);
  EXPECT_EQ(all_reduce(*second), time);
}

TEST(Machines, TogetherTakeNoMoreMemoryThanAllowed) {
  constexpr std::size_t kOneOnly = 1000;
  Machines machines(kOneOnly);
  const std::weak_ptr<const Machine> small = machines.of(machine(8));
  EXPECT_FALSE(small.expired());
  const std::weak_ptr<const Machine> large = machines.of(machine(800));
  EXPECT_TRUE(small.expired());
  EXPECT_FALSE(large.expired()) << "the one asked for last stays";
}

TEST(Machines, OneThatCannotBeBuiltIsAnErrorEveryTime) {
  Machines machines;
  EXPECT_THROW(machines.of(machine(12)), InputError);
  EXPECT_THROW(machines.of(machine(12)), InputError);
  EXPECT_EQ(machines.of(machine(8))->cluster().gpus(), 8u);
}

}  // namespace
}  // namespace stepcast::workload
