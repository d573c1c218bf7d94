#include "app/report/spread.h"

#include <gtest/gtest.h>

#include <numeric>

namespace stepcast::app {
namespace {

TEST(Spread, IsOfTheValuesWhateverTheirOrder) {
  const HashingSpread of_three = spread({3, 1, 2});
  EXPECT_EQ(of_three.least, 1);
  EXPECT_EQ(of_three.median, 2);
  EXPECT_EQ(of_three.p95, 3);
  EXPECT_EQ(of_three.most, 3);
  EXPECT_EQ(spread({4}).p95, 4);
  EXPECT_EQ(spread({1, 2}).median, 1.5);
}

TEST(Spread, P95IsTheSmallestThat95InAHundredDoNotExceed) {
  std::vector<double> values(100);
  std::iota(values.begin(), values.end(), 1);
  EXPECT_EQ(spread(values).p95, 95);
  values.push_back(101);
  EXPECT_EQ(spread(values).p95, 96);
}

}  // namespace
}  // namespace stepcast::app
