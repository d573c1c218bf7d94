#include "sim/distinct_numbers.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace stepcast::sim {
namespace {

TEST(DistinctNumbers, KeepsEqualOnesOnce) {
  DistinctNumbers numbers;
  const std::vector<double> values{1.5, 1.5, 0.25, std::numeric_limits<double>::infinity(), 1.5, 0.25};
  std::vector<std::uint32_t> places;
  for (const double value : values) places.push_back(numbers.place_of(value));
  EXPECT_EQ(places, (std::vector<std::uint32_t>{0, 0, 1, 2, 0, 1}));
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(numbers.all()[places[i]], values[i]);
}

TEST(DistinctNumbers, FindsEveryOneAgainAfterManyMore) {
  DistinctNumbers numbers;
  for (std::uint32_t i = 0; i < 1000; ++i) EXPECT_EQ(numbers.place_of(1.0 / (i + 1)), i);
  for (std::uint32_t i = 1000; i-- > 0;) EXPECT_EQ(numbers.place_of(1.0 / (i + 1)), i);
}

}  // namespace
}  // namespace stepcast::sim
