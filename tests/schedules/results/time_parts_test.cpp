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
  for (const TimePart& part : kTimeParts) {
    EXPECT_TRUE(keys.insert(part.key).second) << part.key;
    EXPECT_EQ(split.*part.time, Time{}) << part.key << ": its member has a line already";
    split.*part.time = Time{std::int64_t{1} << keys.size()};
    expected += split.*part.time;
  }
  EXPECT_EQ(split.sum(), expected);
}

}  // namespace
}  // namespace stepcast::schedules
