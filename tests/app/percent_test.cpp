#include "app/report/percent.h"

#include <gtest/gtest.h>

namespace stepcast::app {
namespace {

TEST(Percent, HasASignUnlessItRoundsToNothing) {
  EXPECT_EQ(signed_percent(0.129), "+12.9%");
  EXPECT_EQ(signed_percent(-0.046), "-4.6%");
  EXPECT_EQ(signed_percent(0), "0.0%");
  EXPECT_EQ(signed_percent(-0.0004), "0.0%");
  EXPECT_EQ(signed_percent(0.0004), "0.0%");
  EXPECT_EQ(signed_percent(-0.0006), "-0.1%");
}

}  // namespace
}  // namespace stepcast::app
