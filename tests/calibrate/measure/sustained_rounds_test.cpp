#include "calibrate/measure/host/sustained_rounds.h"

#include <gtest/gtest.h>

#include "calibrate/measure/host/cpu_list.h"

namespace stepcast::measure {
namespace {

TEST(SustainedRounds, BurstIsTheFirstQuarterOfASecondAndTheRestTheLastThird) {
  std::vector<SustainedWindow> windows;
  for (int i = 1; i <= 600; ++i) {  // clocks fall after two seconds, under the power limit
    const bool early = i <= 40;
    windows.push_back(
        {0.05 * i, early ? 9e-3 : 1e-2, early ? 1980.0 : 1500.0, early ? 500.0 : 700.0, 60, early ? 0u : 4u});
  }
  const SustainedRounds rounds = sum_up(windows);
  EXPECT_DOUBLE_EQ(rounds.burst_s, 9e-3);
  EXPECT_DOUBLE_EQ(rounds.held.median, 1e-2);
  EXPECT_NEAR(static_cast<double>(rounds.held.repeats), 200, 1);
  EXPECT_DOUBLE_EQ(rounds.clock_mhz, 1500);
  EXPECT_DOUBLE_EQ(rounds.power_w, 700);
  EXPECT_DOUBLE_EQ(rounds.capped, 1);
  EXPECT_FALSE(rounds.throttled);
  windows[10].reasons = 0x40;  // heat, at any time, spoils it
  EXPECT_TRUE(sum_up(windows).throttled);
}

TEST(SustainedRounds, ADriverThatSaysNothingLeavesItsColumnsEmpty) {
  const SustainedRounds rounds = sum_up({{40, 1e-2}});
  EXPECT_DOUBLE_EQ(rounds.burst_s, 1e-2);
  EXPECT_EQ(rounds.held.repeats, 1);
  EXPECT_LT(rounds.clock_mhz, 0);
  EXPECT_LT(rounds.power_w, 0);
}

TEST(CpuList, IsReadAsLinuxWritesIt) {
  EXPECT_EQ(cpus_in("0-3,8\n"), (std::vector<int>{0, 1, 2, 3, 8}));
  EXPECT_EQ(cpus_in("5"), std::vector<int>{5});
  for (const char* wrong : {"", "x", "1-", "3-1", "1,", "1;2", "99999999999"})
    EXPECT_TRUE(cpus_in(wrong).empty()) << wrong;
}

}  // namespace
}  // namespace stepcast::measure
