#include "app/report/step_text.h"

#include <gtest/gtest.h>

namespace stepcast::app {
namespace {

TEST(StepText, HasThreeDigits) {
  EXPECT_EQ(step_text(microseconds(11'768)), "0.0118 s");
  EXPECT_EQ(step_text(Time{}), "0 s");
  EXPECT_EQ(step_text(Time{1}), "0.00000000000100 s");
  EXPECT_EQ(step_text(milliseconds(7'000)), "7.00 s");
  EXPECT_EQ(step_text(milliseconds(9'996)), "10.0 s");
  EXPECT_EQ(step_text(milliseconds(99'960)), "100 s");
  EXPECT_EQ(step_text(milliseconds(999'499)), "999 s");
  EXPECT_EQ(step_text(milliseconds(999'700)), "1000 s");
  EXPECT_EQ(step_text(milliseconds(1'262'300)), "1262 s");
}

}  // namespace
}  // namespace stepcast::app
