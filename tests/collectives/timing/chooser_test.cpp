#include "collectives/timing/chooser.h"

#include <gtest/gtest.h>

#include <vector>

namespace stepcast::collectives {
namespace {

TEST(Chooser, TakesTheFastestAndTheFirstOfEquals) {
  const std::vector<Prospect> prospects{{microseconds(1), 0}, {microseconds(1), 0}, {microseconds(1), 0}};
  const std::vector<Time> times{microseconds(9), microseconds(4), microseconds(4)};
  const Choice choice = choose(prospects, {1}, [&](std::size_t i) { return times[i]; });
  EXPECT_EQ(choice.index, 1u);
  EXPECT_EQ(choice.duration, microseconds(4));
}

TEST(Chooser, DoesNotSimulateTheHopeless) {
  const std::vector<Prospect> prospects{{microseconds(100), 0}, {microseconds(1), 0}, {microseconds(1), 1e-9}};
  std::vector<std::size_t> simulated;
  const Choice choice = choose(prospects, {1'000'000}, [&](std::size_t i) {
    simulated.push_back(i);
    return microseconds(10);
  });
  EXPECT_EQ(choice.index, 1u);
  EXPECT_EQ(simulated, std::vector<std::size_t>{1});
}

TEST(Chooser, BoundIsTheLargerOfLatencyAndBusiestLink) {
  EXPECT_EQ(lower_bound({microseconds(3), 1e-9}, {1000}), microseconds(3));
  EXPECT_EQ(lower_bound({microseconds(3), 1e-9}, {1'000'000}), milliseconds(1));
}

}  // namespace
}  // namespace stepcast::collectives
