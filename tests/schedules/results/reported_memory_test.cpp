#include "schedules/results/reported_memory.h"

#include <gtest/gtest.h>

namespace stepcast::schedules {
namespace {

/// Three stages, the second the fullest; of the first a reserve of 1 byte.
std::vector<MemoryUse> stages() {
  std::vector<MemoryUse> of(3);
  of[0].activations = Bytes{10};
  of[0].reserve = Bytes{1};
  of[1].activations = Bytes{30};
  of[2].activations = Bytes{20};
  return of;
}

TEST(ReportedMemory, IsTheFullestStagesOrTheFirsts) {
  Scenario s;
  EXPECT_EQ(reported_memory(s, stages()), Bytes{30});
  s.software.reported_memory = ReportedMemory::first_stage;
  EXPECT_EQ(reported_memory(s, stages()), Bytes{10});
  s.measured.memory_is = MemoryFigure::device;
  EXPECT_EQ(reported_memory(s, stages()), Bytes{11});
  EXPECT_EQ(reported_memory(s, {}), Bytes{});
}

}  // namespace
}  // namespace stepcast::schedules
