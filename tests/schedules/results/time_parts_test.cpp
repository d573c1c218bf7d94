#include "schedules/results/time_parts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "schedules/step/split.h"

namespace stepcast::schedules {
namespace {

TEST(TimeParts, EachMemberHasOneKeyAndCountsOnceInTheSum) {
  std::set<std::string_view> keys;
  TimeSplit split;
  Time expected{};
  for (const TimePart& part : kTimeSplitParts) {
    EXPECT_TRUE(keys.insert(part.key).second) << part.key;
    EXPECT_EQ(split.*part.time, Time{}) << part.key << ": its member has a line already";
    split.*part.time = Time{std::int64_t{1} << keys.size()};
    expected += split.*part.time;
  }
  EXPECT_EQ(split.sum(), expected);
}

// Rounds of local steps and means of steps walk the list of schedules/step/split.h.
TEST(TimeParts, AreWhatStepsAddUp) {
  EXPECT_EQ(kTimeParts.size(), std::size(kTimeSplitParts));
  for (const TimePart& part : kTimeSplitParts) EXPECT_EQ(std::ranges::count(kTimeParts, part.time), 1) << part.key;
}

}  // namespace
}  // namespace stepcast::schedules
