#include "calibrate/confidence/regret.h"

#include <gtest/gtest.h>

#include <array>

namespace stepcast::calibrate {
namespace {

TEST(Regret, IsWhatTheChoiceTakesOverTheBest) {
  const std::array plans{TriedPlan{2, 1}, TriedPlan{1, 3}, TriedPlan{4, 2}};
  EXPECT_DOUBLE_EQ(regret(plans)->first, 1);
  EXPECT_DOUBLE_EQ(regret(plans)->best_of_five, 0);
}

TEST(Regret, LooksAtTheFirstFive) {
  const std::array plans{TriedPlan{3, 1}, TriedPlan{6, 2}, TriedPlan{2, 3},
                         TriedPlan{6, 4}, TriedPlan{6, 5}, TriedPlan{1, 6}};
  EXPECT_DOUBLE_EQ(regret(plans)->first, 2);
  EXPECT_DOUBLE_EQ(regret(plans)->best_of_five, 1);
}

TEST(Regret, ChoosesOfThoseThatFitAndTheFirstOfEquals) {
  const std::array refused{TriedPlan{5, 1, false}, TriedPlan{2, 9}, TriedPlan{1, 10}};
  EXPECT_DOUBLE_EQ(regret(refused)->first, 1);
  const std::array equal{TriedPlan{1.5, 7}, TriedPlan{1, 7}};
  EXPECT_DOUBLE_EQ(regret(equal)->first, 0.5);
  const std::array none_fits{TriedPlan{3, 1, false}, TriedPlan{1, 2, false}};
  EXPECT_DOUBLE_EQ(regret(none_fits)->first, 2);
}

TEST(Regret, OnePlanIsNoChoice) { EXPECT_FALSE(regret(std::array{TriedPlan{1, 1}})); }

}  // namespace
}  // namespace stepcast::calibrate
