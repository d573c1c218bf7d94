// What the shares must be at every instant, on random flows over random networks.
#include "sim/flow_network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "tests/sanitized.h"
#include "tests/sim/drive.h"
#include "tests/sim/random_graph.h"

namespace stepcast::sim {
namespace {

constexpr double kTolerance = 1e-9;

/// Random flows in bursts: several at one picosecond, some bursts while nothing runs.
Starts random_starts(const Recipe& recipe, Random& random) {
  Starts starts;
  const std::uint32_t bursts = 1 + random.below(12);
  for (std::uint32_t b = 0; b < bursts; ++b) {
    std::vector<Start>& burst = starts[Time{random.between(0, 20'000'000)}];
    for (std::uint32_t f = 1 + random.below(8); f-- > 0;) {
      burst.push_back({RouteId{random.below(static_cast<std::uint32_t>(recipe.routes.size()))},
                       Bytes{random.one_in(3) ? 4096 : random.between(1, 50'000)}});
    }
  }
  return starts;
}

std::vector<double> load_on_resources(const Recipe& recipe, const FlowNetwork& network) {
  std::vector<double> load(recipe.resources.size(), 0.0);
  for (std::uint32_t r = 0; r < recipe.routes.size(); ++r) {
    const double rate = network.rate(RouteId{r}).value * network.flows(RouteId{r});
    for (const Use& use : recipe.routes[r].uses) load[index(use.resource)] += use.load * rate;
  }
  return load;
}

/// Runs `check(recipe, network)` at every instant of 300 random cases.
template <class Check>
void at_every_instant(const Check& check) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    Recipe recipe;
    add_random_network(recipe, random);
    const TaskGraph graph = graph_of(recipe.resources, recipe.routes);
    FlowNetwork network(graph);
    drive(network, random_starts(recipe, random), [&](Time, Time) { check(recipe, network); });
    if (testing::Test::HasFailure()) return;  // one seed is enough to look at
  }
}

TEST(FlowNetwork, NoResourceIsEverAboveItsCapacity) {
  at_every_instant([](const Recipe& recipe, const FlowNetwork& network) {
    const std::vector<double> load = load_on_resources(recipe, network);
    for (std::size_t l = 0; l < load.size(); ++l) {
      EXPECT_LE(load[l], recipe.resources[l].value * (1 + kTolerance)) << "resource " << l;
    }
  });
}

TEST(FlowNetwork, NoFlowIsEverAboveItsLimitAndAllMove) {
  at_every_instant([](const Recipe& recipe, const FlowNetwork& network) {
    for (std::uint32_t r = 0; r < recipe.routes.size(); ++r) {
      const double rate = network.rate(RouteId{r}).value;
      EXPECT_LE(rate, recipe.routes[r].limit.value * (1 + kTolerance)) << "route " << r;
      EXPECT_EQ(rate > 0, network.flows(RouteId{r}) > 0) << "route " << r;
    }
  });
}

TEST(FlowNetwork, LosesNothing) {
  at_every_instant([](const Recipe&, const FlowNetwork& network) { EXPECT_TRUE(network.losses().empty()); });
}

// The caller starts another flow before it comes for the end of the first, which has then moved twice its bytes.
TEST(FlowNetwork, NotesWhatAFlowMovedBesideWhatItWasTo) {
  Recipe recipe;
  recipe.resources = {{1e12}, {1e12}};
  recipe.routes = {{{{ResourceId{0}, 1.0}}, {}, {1e12}, 1.0}, {{{ResourceId{1}, 1.0}}, {}, {1e12}, 1.0}};
  const TaskGraph graph = graph_of(recipe.resources, recipe.routes);
  FlowNetwork network(graph);
  network.start(0, RouteId{0}, {1000});
  ASSERT_EQ(network.settle({0}).front(), RouteId{0});
  ASSERT_EQ(network.wake(RouteId{0}), Time{1000});
  network.start(1, RouteId{0}, {1000});
  network.settle({2000});
  std::vector<std::uint32_t> ended;
  ASSERT_EQ(network.expire(RouteId{0}, {1000}, ended), Time{2001});
  network.expire(RouteId{0}, {2001}, ended);
  ASSERT_EQ(ended, std::vector<std::uint32_t>{0});
  ASSERT_EQ(network.losses().size(), 1u);
  EXPECT_EQ(network.losses().front().route, RouteId{0});
  EXPECT_NEAR(network.losses().front().bytes, -1000, 2);
}

/// The condition that says max-min: a flow below its limit has a full resource on which nobody gets more per weight.
TEST(FlowNetwork, EveryFlowIsAtItsLimitOrHasABottleneck) {
  at_every_instant([](const Recipe& recipe, const FlowNetwork& network) {
    const std::vector<double> load = load_on_resources(recipe, network);
    std::vector<double> highest(load.size(), 0.0);  // rate over weight
    for (std::uint32_t r = 0; r < recipe.routes.size(); ++r) {
      for (const Use& use : recipe.routes[r].uses) {
        double& most = highest[index(use.resource)];
        most = std::max(most, network.rate(RouteId{r}).value / recipe.routes[r].weight);
      }
    }
    for (std::uint32_t r = 0; r < recipe.routes.size(); ++r) {
      if (network.flows(RouteId{r}) == 0) continue;
      const Route& route = recipe.routes[r];
      const double rate = network.rate(RouteId{r}).value;
      bool held = rate >= route.limit.value * (1 - kTolerance);
      for (const Use& use : route.uses) {
        const std::size_t l = index(use.resource);
        held = held || (load[l] >= recipe.resources[l].value * (1 - kTolerance) &&
                        rate / route.weight >= highest[l] * (1 - kTolerance));
      }
      EXPECT_TRUE(held) << "route " << r << " at " << rate;
    }
  });
}

/// The rates integrated over time are the bytes asked for, no less, and no more than the last picosecond of each flow.
TEST(FlowNetwork, TheRatesMoveExactlyTheBytes) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    Recipe recipe;
    add_random_network(recipe, random);
    const TaskGraph graph = graph_of(recipe.resources, recipe.routes);
    FlowNetwork network(graph);
    const auto starts = random_starts(recipe, random);
    std::vector<double> moved(recipe.routes.size(), 0.0), asked(recipe.routes.size(), 0.0);
    std::vector<double> slack(recipe.routes.size(), 0.0);
    const std::vector<Time> end = drive(network, starts, [&](Time now, Time until) {
      for (std::uint32_t r = 0; r < recipe.routes.size(); ++r) {
        moved[r] += network.rate(RouteId{r}).value * network.flows(RouteId{r}) * to_seconds(until - now);
      }
    });
    for (const auto& [at, burst] : starts) {
      for (const Start& start : burst) {
        const Route& route = recipe.routes[index(start.route)];
        double alone = route.limit.value;
        for (const Use& use : route.uses) {
          alone = std::min(alone, recipe.resources[index(use.resource)].value / use.load);
        }
        asked[index(start.route)] += static_cast<double>(start.bytes.value);
        slack[index(start.route)] += alone / kPicosecondsPerSecond;
      }
    }
    ASSERT_EQ(std::count(end.begin(), end.end(), Time{-1}), 0) << "seed " << seed << ": a flow never ended";
    for (std::size_t r = 0; r < moved.size(); ++r) {
      ASSERT_GE(moved[r], asked[r] * (1 - kTolerance) - 0.02 * slack[r]) << "seed " << seed << " route " << r;
      ASSERT_LE(moved[r], asked[r] * (1 + kTolerance) + slack[r]) << "seed " << seed << " route " << r;
    }
  }
}

TEST(FlowNetwork, TheRatesDoNotDependOnWhatRanBefore) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    Recipe recipe;
    add_random_network(recipe, random);
    const TaskGraph graph = graph_of(recipe.resources, recipe.routes);
    FlowNetwork network(graph);
    drive(network, random_starts(recipe, random), [&](Time now, Time) {
      FlowNetwork fresh(graph);
      for (std::uint32_t r = static_cast<std::uint32_t>(recipe.routes.size()); r-- > 0;) {
        for (std::uint32_t f = 0; f < network.flows(RouteId{r}); ++f) fresh.start(f, RouteId{r}, Bytes{1});
      }
      fresh.settle(now);
      for (std::uint32_t r = 0; r < recipe.routes.size(); ++r) {
        const double old_rate = network.rate(RouteId{r}).value, new_rate = fresh.rate(RouteId{r}).value;
        ASSERT_NEAR(old_rate, new_rate, 1e-11 * new_rate) << "seed " << seed << " route " << r;
      }
    });
    if (HasFailure()) return;
  }
}

/// Hundreds of flows in one or two components that start together, so that ends are filled again only in part; a few
/// bursts later.
Starts start_large(Recipe& recipe, Random& random) {
  const std::uint32_t parts = 1 + random.below(2), resources = 12 + random.below(20);
  for (std::uint32_t i = 0; i < parts * resources; ++i) recipe.resources.push_back({random.real(1e9, 4e10)});
  std::vector<Start> together;
  for (std::uint32_t i = 0; i < 300 * parts + random.below(200); ++i) {
    Route route;
    for (std::uint32_t u = 1 + random.below(3); u-- > 0;) {
      route.uses.push_back({ResourceId{i % parts * resources + random.below(resources)}, random.real(0.25, 2)});
    }
    if (random.one_in(8)) route.limit = {random.real(5e6, 1e9)};
    if (random.one_in(3)) route.weight = random.real(0.5, 8);
    for (std::uint32_t f = 1 + (random.one_in(4) ? 1 : 0); f-- > 0;) {
      together.push_back({RouteId{i}, Bytes{random.one_in(3) ? 4096 : random.between(1, 50'000)}});
    }
    recipe.routes.push_back(route);
  }
  Starts starts;
  starts[Time{}] = together;
  for (std::uint32_t b = random.below(6); b-- > 0;) {
    const RouteId route{random.below(static_cast<std::uint32_t>(recipe.routes.size()))};
    starts[Time{random.between(1, 400'000'000)}].push_back({route, Bytes{random.between(1, 50'000)}});
  }
  return starts;
}

TEST(FlowNetwork, PartsFilledAgainHaveTheRatesOfTheWhole) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    Random random(seed);
    Recipe recipe;
    const auto starts = start_large(recipe, random);
    const TaskGraph graph = graph_of(recipe.resources, recipe.routes);
    FlowNetwork network(graph);
    std::vector<double> moved(recipe.routes.size()), asked(recipe.routes.size());
    for (const auto& [at, burst] : starts) {
      for (const Start& start : burst) asked[index(start.route)] += static_cast<double>(start.bytes.value);
    }
    std::size_t instants = 0;
    const std::vector<Time> end = drive(network, starts, [&](Time now, Time until) {
      for (std::uint32_t r = 0; r < recipe.routes.size(); ++r) {
        moved[r] += network.rate(RouteId{r}).value * network.flows(RouteId{r}) * to_seconds(until - now);
      }
      if (++instants % 7 != 0) return;
      FlowNetwork fresh(graph);
      for (std::uint32_t r = 0; r < recipe.routes.size(); ++r) {
        for (std::uint32_t f = 0; f < network.flows(RouteId{r}); ++f) fresh.start(f, RouteId{r}, Bytes{1});
      }
      fresh.settle(now);
      for (std::uint32_t r = 0; r < recipe.routes.size(); ++r) {
        const double old_rate = network.rate(RouteId{r}).value, new_rate = fresh.rate(RouteId{r}).value;
        ASSERT_NEAR(old_rate, new_rate, 1e-11 * new_rate) << "seed " << seed << " route " << r << " at " << now.value;
      }
    });
    if (HasFailure()) return;
    EXPECT_EQ(std::count(end.begin(), end.end(), Time{-1}), 0) << "seed " << seed << ": a flow never ended";
    for (std::size_t r = 0; r < moved.size(); ++r) {
      ASSERT_NEAR(moved[r], asked[r], 0.1 + 1e-9 * asked[r]) << "seed " << seed << " route " << r;
    }
  }
}

TEST(FlowNetwork, AChangeElsewhereIsNotSolved) {
  Recipe recipe;
  for (int i = 0; i < 2; ++i) recipe.resources.push_back({1e9});
  for (std::uint32_t i = 0; i < 4; ++i) recipe.routes.push_back({.uses = {{ResourceId{i / 2}}}});
  const TaskGraph graph = graph_of(recipe.resources, recipe.routes);
  FlowNetwork network(graph);
  network.start(0, RouteId{0}, Bytes{1000});
  network.start(1, RouteId{2}, Bytes{1000});
  EXPECT_EQ(network.settle(Time{}).size(), 2u);
  network.start(2, RouteId{1}, Bytes{500});
  const auto planned = network.settle(Time{10});
  ASSERT_EQ(planned.size(), 1u);
  EXPECT_EQ(planned[0], RouteId{1});
  EXPECT_TRUE(network.settle(Time{11}).empty());
}

TEST(FlowNetwork, ARouteWithoutAnyLimitIsUnbounded) {
  const TaskGraph graph = graph_of({{1e9}}, {{}, {.uses = {{ResourceId{0}}}}, {.limit = {1e9}}});
  const FlowNetwork network(graph);
  EXPECT_TRUE(network.unbounded(RouteId{0}));
  EXPECT_FALSE(network.unbounded(RouteId{1}));
  EXPECT_FALSE(network.unbounded(RouteId{2}));
}

/// Sums are taken in one order whatever the order of the starts: to the last bit, not only to a tolerance. Some
/// components here are a small part of the network and some are most of it.
TEST(FlowNetwork, TheOrderOfTheStartsDoesNotChangeOneBitOfTheRates) {
  for (std::uint64_t seed = 1; seed <= (test::kSanitized ? 15 : 100); ++seed) {
    Random random(seed);
    Recipe recipe;
    const std::uint32_t routes = 12'000, resources = 4 + random.below(random.one_in(2) ? 60 : 1500);
    for (std::uint32_t l = 0; l < resources; ++l) recipe.resources.push_back({random.real(1e9, 4e9)});
    for (std::uint32_t r = 0; r < routes; ++r) {
      Route route{.weight = random.real(0.5, 2)};
      for (std::uint32_t u = 2; u-- > 0;) {
        route.uses.push_back({ResourceId{random.below(resources)}, random.real(0.1, 1)});
      }
      recipe.routes.push_back(route);
    }
    std::vector<std::uint32_t> order;
    for (std::uint32_t f = 1 + random.below(random.one_in(2) ? 30 : 1500); f-- > 0;) {
      order.push_back(random.below(routes));
    }
    const TaskGraph graph = graph_of(recipe.resources, recipe.routes);
    FlowNetwork one(graph), two(graph);
    for (const std::uint32_t r : order) one.start(0, RouteId{r}, Bytes{1000});
    random.shuffle(order);
    for (const std::uint32_t r : order) two.start(0, RouteId{r}, Bytes{1000});
    one.settle(Time{});
    two.settle(Time{});
    for (const std::uint32_t r : order) {
      ASSERT_EQ(one.rate(RouteId{r}), two.rate(RouteId{r})) << "seed " << seed << " route " << r;
    }
  }
}

/// Links that fill at the same lambda but for the rounding of their quotients, joined by a wide resource.
TEST(FlowNetwork, LevelsARoundingApartAreOne) {
  std::vector<Bandwidth> resources{{1e15}};
  std::vector<Route> routes{{.uses = {{ResourceId{0}}}, .limit = {5e9}}};
  for (std::uint32_t i = 1; i <= 50; ++i) {
    const double load = 0.1 * i;
    resources.push_back({load * 1e10 / 7});
    routes.push_back({.uses = {{ResourceId{0}}, {ResourceId{i}, load}}});
  }
  const TaskGraph graph = graph_of(resources, routes);
  FlowNetwork network(graph);
  for (std::uint32_t r = 0; r < routes.size(); ++r) network.start(r, RouteId{r}, Bytes{1000});
  network.settle(Time{});
  EXPECT_EQ(network.rate(RouteId{0}), Bandwidth{5e9});
  EXPECT_NEAR(network.rate(RouteId{1}).value, 1e10 / 7, 1);
  for (std::uint32_t r = 2; r < routes.size(); ++r) EXPECT_EQ(network.rate(RouteId{r}), network.rate(RouteId{1})) << r;
}

/// Weights and loads over twelve orders of magnitude: what is left of a sum must not be its rounding.
TEST(FlowNetwork, VeryDifferentWeightsKeepTheirShares) {
  const std::vector<Bandwidth> resources{{1e9}, {1e3}};
  std::vector<Route> routes{{.uses = {{ResourceId{0}}}, .weight = 1e-6}, {.uses = {{ResourceId{0}}}, .weight = 2e-6}};
  routes.push_back({.uses = {{ResourceId{0}}, {ResourceId{1}}}, .weight = 1e9});
  const TaskGraph graph = graph_of(resources, routes);
  FlowNetwork network(graph);
  for (std::uint32_t r = 0; r < 3; ++r) network.start(r, RouteId{r}, Bytes{1000});
  network.settle(Time{});
  const double rest = 1e9 - 1e3;
  EXPECT_NEAR(network.rate(RouteId{2}).value, 1e3, 1e-6);
  EXPECT_NEAR(network.rate(RouteId{0}).value, rest / 3, rest * kTolerance);
  EXPECT_NEAR(network.rate(RouteId{1}).value, rest * 2 / 3, rest * kTolerance);
}

}  // namespace
}  // namespace stepcast::sim
