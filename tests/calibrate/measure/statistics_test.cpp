#include "calibrate/measure/host/statistics.h"

#include <gtest/gtest.h>

namespace stepcast::measure {
namespace {

TEST(MeasureStatistics, MedianAndPercentilesInterpolate) {
  const SampleSpread s = spread_of({5, 1, 2, 4, 3});
  EXPECT_EQ(s.repeats, 5);
  EXPECT_DOUBLE_EQ(s.median, 3);
  EXPECT_DOUBLE_EQ(s.p10, 1.4);
  EXPECT_DOUBLE_EQ(s.p90, 4.6);
  EXPECT_DOUBLE_EQ(spread_of({7}).p90, 7);
  EXPECT_DOUBLE_EQ(spread_of({1, 2}).median, 1.5);
}

TEST(MeasureStatistics, AnOutlierDoesNotMoveTheMedian) { EXPECT_DOUBLE_EQ(spread_of({1, 1, 1, 1, 100}).median, 1); }

TEST(MeasureStatistics, DriftIsALaterHalfMoreThanATenthSlower) {
  EXPECT_TRUE(drifts({1, 1, 1, 1, 1.2, 1.2, 1.2, 1.2}));
  EXPECT_FALSE(drifts({1, 1, 1, 1, 1.05, 1.05, 1.05, 1.05}));
  EXPECT_FALSE(drifts({1.2, 1.2, 1.2, 1.2, 1, 1, 1, 1}));
  EXPECT_FALSE(drifts({1, 9}));
}

TEST(MeasureStatistics, HeatThrottlesAndThePowerCapDoesNot) {
  EXPECT_FALSE(throttled(0));
  EXPECT_FALSE(throttled(0x1 | 0x4));  // idle, power cap
  for (const std::uint64_t bit : {0x8u, 0x20u, 0x40u, 0x80u}) EXPECT_TRUE(throttled(bit));
  EXPECT_EQ(throttle_words(0x44), "power cap, thermal slowdown by hardware");
  EXPECT_EQ(throttle_words(0x1), "");
}

}  // namespace
}  // namespace stepcast::measure
