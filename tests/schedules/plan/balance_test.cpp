#include "schedules/plan/balance.h"

#include <gtest/gtest.h>

namespace stepcast::schedules {
namespace {

/// The first kind takes so many times as long as the second for the same samples.
std::function<Time(std::size_t, std::int64_t)> slower_by(double times) {
  return [times](std::size_t kind, std::int64_t samples) {
    return from_seconds(static_cast<double>(samples) * (kind == 0 ? times : 1));
  };
}

TEST(Balance, SharesAreInProportionToSpeed) {
  EXPECT_EQ(balance({{1, 1}, 48}, slower_by(2)), (Shares{16, 32}));
  EXPECT_EQ(balance({{1, 1}, 48}, slower_by(1)), (Shares{24, 24}));
  EXPECT_EQ(balance({{4, 4}, 4 * 40}, slower_by(3)), (Shares{10, 30}));
  EXPECT_EQ(balance({{2, 1}, 40}, slower_by(2)), (Shares{10, 20}));
  EXPECT_EQ(balance({{1, 1}, 48}, slower_by(0.5)), (Shares{32, 16}));
}

TEST(Balance, WholeSamplesComeAsNearAsTheyCan) {
  EXPECT_EQ(balance({{1, 1}, 10}, slower_by(2)), (Shares{3, 7}));  // 6 and 7 instead of 8 and 6
  EXPECT_EQ(balance({{1, 1}, 3}, slower_by(1.8)), (Shares{1, 2}));
  EXPECT_EQ(balance({{1, 1}, 2}, slower_by(100)), (Shares{1, 1}));
  EXPECT_EQ(balance({{4, 4}, 12}, slower_by(2)), (Shares{1, 2}));
}

}  // namespace
}  // namespace stepcast::schedules
