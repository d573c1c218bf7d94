#include "workload/own_algorithm.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "tests/workload/machine_of_boxes.h"
#include "workload/machine.h"

namespace stepcast::workload {
namespace {

using collectives::Group;
using topology::GpuId;

/// Four boxes of six GPUs, whose library goes by NCCL's model.
MachineSpec boxes_of_six() {
  MachineSpec spec = test::boxes(24, 3);
  spec.node.gpus = 6;
  spec.transport.as_nccl_picks = true;
  spec.transport.ll.share = 0.4;
  return spec;
}

/// An all-reduce of three groups of eight: of a box and two GPUs of the next, of four and four, and of two and a box;
/// asked for by one of them.
Collective asked_by(std::size_t own, Bytes bytes) {
  std::vector<Group> groups(3);
  for (std::uint32_t gpu = 0; gpu < 24; ++gpu) groups[gpu / 8].push_back(GpuId{gpu});
  std::swap(groups.front(), groups[own]);
  return {.operation = collectives::Operation::all_reduce, .bytes = bytes, .groups = test::groups(std::move(groups))};
}

TEST(OwnAlgorithm, IsWhatTheLibraryPicksForTheGroupAlone) {
  const Machine machine(boxes_of_six());
  const collectives::Timer& timer = machine.timer();
  int unlike = 0;
  for (std::int64_t size = 1 << 10; size <= 1 << 28; size *= 2) {
    SCOPED_TRACE(size);
    std::set<std::string> picked;
    std::map<topology::LinkId, double> of_each;
    for (std::size_t own = 0; own < 3; ++own) {
      const Collective c = asked_by(own, {size});
      const auto alone = timer.picked_for(c.operation, c.bytes, c.groups->front());
      ASSERT_TRUE(alone);
      const collectives::Timing& timing =
          timer.time(c.operation, c.bytes, *c.groups, own_algorithm(c, timer), false, {.own = 1});
      EXPECT_EQ(timing.algorithm + "/" + timing.protocol, *alone);
      picked.insert(*alone);
      for (const collectives::Timing::Load& load : timing.loads) of_each[load.link] += load.occupied;
    }
    const std::vector<collectives::Timing::Load> loads = loads_of_unlike(asked_by(1, {size}), timer);
    EXPECT_EQ(loads.empty(), picked.size() == 1);
    unlike += picked.size() > 1;
    if (loads.empty()) continue;
    EXPECT_EQ(loads.size(), of_each.size());
    for (const collectives::Timing::Load& load : loads)
      EXPECT_NEAR(load.occupied, of_each[load.link], 1e-9 * of_each[load.link]);
  }
  EXPECT_GT(unlike, 0);
}

TEST(OwnAlgorithm, IsTheLibrarysWhereThatHasNoModelOfItsOwn) {
  MachineSpec spec = boxes_of_six();
  spec.transport.as_nccl_picks = false;  // the fastest beside the others
  const Machine machine(spec);
  for (std::size_t own = 0; own < 3; ++own) {
    EXPECT_EQ(own_algorithm(asked_by(own, {1 << 20}), machine.timer()), "library");
    EXPECT_TRUE(loads_of_unlike(asked_by(own, {1 << 20}), machine.timer()).empty());
  }
}

}  // namespace
}  // namespace stepcast::workload
