#include "search/edge.h"

#include <gtest/gtest.h>

#include <bit>
#include <set>
#include <vector>

namespace stepcast::search {
namespace {

EdgePoint point(std::size_t place, std::int64_t step, std::int64_t target) {
  EdgePoint made{place};
  made.best.emplace();
  made.best->forecast.step = {step};
  made.met = step < target;
  return made;
}

TEST(Edge, ByHalvesIsTheOneThatLookingAtAllFinds) {
  for (std::size_t values = 1; values <= 40; ++values)
    for (std::size_t edge = 0; edge <= values; ++edge) {
      std::set<std::size_t> tried;
      const auto at = [&](std::size_t place) {
        EXPECT_TRUE(tried.insert(place).second) << "tried twice";
        return point(place, static_cast<std::int64_t>(100 - place), static_cast<std::int64_t>(101 - edge));
      };
      const TargetEdge halves = find_edge(values, EdgeWalk::halves, at);
      EXPECT_LE(tried.size(), 2 + std::bit_width(values));
      tried.clear();
      const TargetEdge each = find_edge(values, EdgeWalk::each, at);
      ASSERT_EQ(halves.least.has_value(), edge < values);
      ASSERT_EQ(each.least.has_value(), edge < values);
      EXPECT_TRUE(halves.monotone && each.monotone);
      if (edge == values) continue;
      EXPECT_EQ(halves.points[*halves.least].place, edge);
      EXPECT_EQ(each.points[*each.least].place, edge);
      EXPECT_EQ(each.points.size(), edge + 1);
      if (edge == 0) continue;
      EXPECT_EQ(halves.points[*halves.least - 1].place, edge - 1) << "the next lesser one was not tried";
    }
}

TEST(Edge, SaysWhereMoreIsSlower) {
  const std::vector<std::int64_t> steps{9, 7, 8, 3};
  const auto at = [&](std::size_t place) { return point(place, steps[place], 4); };
  EXPECT_FALSE(find_edge(4, EdgeWalk::each, at).monotone);
  const TargetEdge none_fits = find_edge(
      3, EdgeWalk::each, [&](std::size_t place) { return place == 1 ? EdgePoint{place} : point(place, 5, 4); });
  EXPECT_FALSE(none_fits.monotone);
  EXPECT_FALSE(none_fits.least);
}

/// A target that lesser values meet and better ones do not is met all the same.
TEST(Edge, IsTheLeastWhereMoreMissesTheTarget) {
  const TargetEdge edge = find_edge(9, EdgeWalk::halves, [](std::size_t place) {
    EdgePoint made = point(place, 5, 4);
    made.met = place < 3;
    return made;
  });
  ASSERT_TRUE(edge.least);
  EXPECT_EQ(edge.points[*edge.least].place, 0u);
  EXPECT_FALSE(edge.monotone);
}

}  // namespace
}  // namespace stepcast::search
