#include "sim/known_rates.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "sim/flow_network.h"
#include "tests/sim/drive.h"

namespace stepcast::sim {
namespace {

using Met = std::vector<KnownRates::RouteFlows>;

std::vector<double> found(KnownRates& known, const Met& routes) {
  const std::span<const double> rates = known.find(routes);
  return {rates.begin(), rates.end()};
}

TEST(KnownRates, AreThoseOfTheSameRoutesWithAsManyFlows) {
  KnownRates known;
  const Met two{{3, 1}, {7, 1}}, more_flows{{3, 1}, {7, 2}}, more_routes{{3, 1}, {7, 1}, {8, 1}}, one{{3, 1}};
  EXPECT_TRUE(found(known, two).empty());
  known.remember(two, std::vector<double>{5, 6});
  EXPECT_EQ(found(known, two), (std::vector<double>{5, 6}));
  for (const Met& other : {more_flows, more_routes, one}) EXPECT_TRUE(found(known, other).empty());
  known.remember(one, std::vector<double>{11});
  EXPECT_EQ(found(known, two), (std::vector<double>{5, 6}));
  EXPECT_EQ(found(known, one), (std::vector<double>{11}));
}

/// However many there are: some are forgotten, and none is taken for another.
TEST(KnownRates, AreNeverThoseOfOthers) {
  constexpr std::uint32_t kComponents = 10'000;
  const auto component = [](std::uint32_t i) { return Met{{i / 7, 1 + i % 2}, {i / 7 + 1 + i % 7, 1}}; };
  KnownRates known;
  for (std::uint32_t i = 0; i < kComponents; ++i) {
    ASSERT_TRUE(found(known, component(i)).empty()) << i;
    const std::vector<double> rates{1.0 * i, 2.0 * i};
    known.remember(component(i), rates);
    ASSERT_EQ(found(known, component(i)), rates);
  }
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < kComponents; ++i) {
    const std::vector<double> rates = found(known, component(i));
    if (rates.empty()) continue;
    ++kept;
    ASSERT_EQ(rates, (std::vector<double>{1.0 * i, 2.0 * i}));
  }
  EXPECT_GT(kept, 0u);
  EXPECT_LT(kept, kComponents);
}

/// What a network gives flows that have met before is, to the last bit, what one gives them that has seen nothing yet.
TEST(KnownRates, AreThoseOfANetworkThatHasSeenNothing) {
  std::mt19937 random(1);
  constexpr std::uint32_t kRoutes = 8, kResources = 4;
  std::vector<Bandwidth> resources;
  for (std::uint32_t i = 0; i < kResources; ++i) resources.push_back({1e9 * (1 + i)});
  std::vector<Route> routes;
  for (std::uint32_t r = 0; r < kRoutes; ++r) {
    Route& route = routes.emplace_back(Route{.uses = {}, .latency = {}, .limit = {r % 3 == 0 ? 0.3e9 : 9e9}});
    route.weight = 1.0 + r % 2;
    for (std::uint32_t i = 0; i < kResources; ++i)
      if (i == r % kResources || random() % 3 == 0)
        route.uses.push_back({ResourceId{i}, 1.0 / (1 + static_cast<double>(random() % 3))});
  }
  const TaskGraph graph = graph_of(resources, routes);
  FlowNetwork again(graph);
  for (std::int64_t meeting = 0; meeting < 500; ++meeting) {
    Starts starts;
    for (std::uint32_t r = 0; r < kRoutes; ++r)
      for (std::uint32_t n = random() % 3 == 0 ? 1 + random() % 2 : 0; n > 0; --n)
        starts[Time{1'000'000'000'000 * meeting}].push_back({RouteId{r}, Bytes{random() % 2 == 0 ? 100'000 : 200'000}});
    const auto run = [&](FlowNetwork& network) {
      std::vector<double> rates;
      std::vector<Time> ends = drive(network, starts, [&](Time, Time) {
        for (std::uint32_t r = 0; r < kRoutes; ++r) rates.push_back(network.rate(RouteId{r}).value);
      });
      return std::pair(rates, ends);
    };
    FlowNetwork first(graph);
    ASSERT_EQ(run(first), run(again)) << "meeting " << meeting;
  }
}

}  // namespace
}  // namespace stepcast::sim
