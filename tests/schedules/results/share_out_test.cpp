#include "schedules/results/share_out.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace stepcast::schedules {
namespace {

using testing::ElementsAre;

TEST(ShareOut, SharesAddUpAndWhatIsLeftGoesToThoseThatLostMost) {
  EXPECT_THAT(share_out(picoseconds(10), std::array{1.0, 1.0, 1.0}),
              ElementsAre(picoseconds(4), picoseconds(3), picoseconds(3)));
  EXPECT_THAT(share_out(picoseconds(10), std::array{0.0, 2.0, 1.0}),
              ElementsAre(picoseconds(0), picoseconds(7), picoseconds(3)));
  EXPECT_THAT(share_out(picoseconds(5), std::array{0.0, 0.0}), ElementsAre(picoseconds(5), picoseconds(0)));
}

TEST(ShareOut, MeansAddUp) {
  // Two stages of 7 ps each: 5 + 4 of one part, 2 + 3 of the other.
  EXPECT_THAT(means(picoseconds(7), std::array{picoseconds(9), picoseconds(5)}, 2),
              ElementsAre(picoseconds(5), picoseconds(2)));
}

}  // namespace
}  // namespace stepcast::schedules
