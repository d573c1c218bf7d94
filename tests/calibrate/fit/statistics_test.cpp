#include "calibrate/fit/statistics.h"

#include <gtest/gtest.h>

#include <vector>

namespace stepcast::calibrate {
namespace {

using V = std::vector<double>;

TEST(Statistics, MeanAbsoluteAndMedian) {
  EXPECT_DOUBLE_EQ(*mean_absolute(V{0.1, -0.3}), 0.2);
  EXPECT_FALSE(mean_absolute(V{}));
  EXPECT_DOUBLE_EQ(*median(V{3, 1, 2}), 2);
  EXPECT_DOUBLE_EQ(*median(V{4, 1, 2, 3}), 2.5);
  EXPECT_FALSE(median(V{}));
}

TEST(Statistics, RankCorrelation) {
  EXPECT_DOUBLE_EQ(*rank_correlation(V{1, 2, 3}, V{10, 200, 3000}), 1);
  EXPECT_DOUBLE_EQ(*rank_correlation(V{1, 2, 3}, V{3, 2, 1}), -1);
  // Ranks 0 1 2 3 4 against 1 0 2 4 3: 1 - 6 * 4 / (5 * 24) = 0.8.
  EXPECT_DOUBLE_EQ(*rank_correlation(V{1, 2, 3, 4, 5}, V{2, 1, 3, 5, 4}), 0.8);
  // Ties take their average: ranks 0.5 0.5 2 against 0 1 2.
  EXPECT_NEAR(*rank_correlation(V{1, 1, 2}, V{1, 2, 3}), 0.8660254037844386, 1e-15);
  EXPECT_FALSE(rank_correlation(V{1}, V{1}));
  EXPECT_FALSE(rank_correlation(V{1, 1}, V{1, 2}));
}

}  // namespace
}  // namespace stepcast::calibrate
