#include "sim/routes.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/sim/random_graph.h"

namespace stepcast::sim {
namespace {

/// Few resources and few loads, so that halves meet again in every combination and in every order.
TEST(Routes, AreReadAsTheyWereAdded) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Random random(seed);
    Routes routes;
    std::vector<Route> added;
    for (int r = 0; r < 200; ++r) {
      Route& route = added.emplace_back();
      for (std::uint32_t use = random.below(6); use-- > 0;)
        route.uses.push_back({ResourceId{random.below(4)}, random.one_in(3) ? 0.5 : 1.0});
      route.latency = Time{random.below(3)};
      route.limit = Bandwidth{random.real(1, 2)};
      routes.add(route.uses, {route.latency, route.limit, route.weight});
    }
    ASSERT_EQ(routes.size(), added.size());
    std::size_t at = 0;
    for (const Route route : routes) {
      EXPECT_EQ(route.uses, added[at].uses);
      EXPECT_EQ(route.latency, added[at].latency);
      EXPECT_EQ(route.limit, added[at].limit);
      EXPECT_EQ(routes.uses(at).size(), added[at].uses.size());
      ++at;
    }
  }
}

}  // namespace
}  // namespace stepcast::sim
