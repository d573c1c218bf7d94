// Hundreds of flows on one component that start and end at different times, against water-filling of the plainest kind.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "sim/flow_network.h"
#include "tests/long.h"
#include "tests/sanitized.h"
#include "tests/sim/drive.h"
#include "tests/sim/random_graph.h"

namespace stepcast::sim {
namespace {

constexpr double kLargeTolerance = 1e-9;

/// Max-min fair rates by their definition: again and again, the resource or limit that is reached at the least rate per
/// weight fixes the flows that it holds. Quadratic, and it shares no line with the network.
std::vector<double> water_filling(const Recipe& recipe, const std::vector<std::uint32_t>& flows) {
  std::vector<double> rate(recipe.routes.size(), -1);
  for (std::size_t r = 0; r < rate.size(); ++r) {
    if (flows[r] == 0) rate[r] = 0;
  }
  for (;;) {
    std::vector<double> left, demand(recipe.resources.size());
    for (const Bandwidth capacity : recipe.resources) left.push_back(capacity.value);
    double lowest = std::numeric_limits<double>::infinity();
    for (std::size_t r = 0; r < rate.size(); ++r) {
      const Route& route = recipe.routes[r];
      if (rate[r] < 0) lowest = std::min(lowest, route.limit.value / route.weight);
      for (const Use& use : route.uses) {
        if (rate[r] < 0) {
          demand[index(use.resource)] += use.load * flows[r] * route.weight;
        } else {
          left[index(use.resource)] -= use.load * flows[r] * rate[r];
        }
      }
    }
    for (std::size_t l = 0; l < left.size(); ++l) {
      if (demand[l] > 0) lowest = std::min(lowest, left[l] / demand[l]);
    }
    if (lowest == std::numeric_limits<double>::infinity()) return rate;
    for (std::size_t r = 0; r < rate.size(); ++r) {
      const Route& route = recipe.routes[r];
      if (rate[r] >= 0) continue;
      bool held = route.limit.value / route.weight <= lowest * (1 + 1e-12);
      for (const Use& use : route.uses) {
        const std::size_t l = index(use.resource);
        held = held || left[l] / demand[l] <= lowest * (1 + 1e-12);
      }
      if (held) rate[r] = lowest * route.weight;
    }
  }
}

/// What a random instance is made of.
struct Shape {
  bool ring = false;       // a ring, not an all-to-all
  bool spines = false;     // flows cross shared links between the leaves too
  bool weights = false;    // and fractional loads
  bool limits = false;     // some flows have limits of their own, some of them equal
  bool even = false;       // ports and sizes are the same: ties everywhere
  bool islands = false;    // small components of their own, some of which later flows join to the rest
  bool staggered = false;  // flows start at random times, not together
};

void PrintTo(const Shape& shape, std::ostream* out) {
  *out << (shape.ring ? "ring " : "") << (shape.spines ? "spines " : "") << (shape.weights ? "weights " : "")
       << (shape.limits ? "limits " : "") << (shape.even ? "even " : "") << (shape.islands ? "islands " : "")
       << (shape.staggered ? "staggered " : "");
}

struct Instance {
  Recipe recipe;
  Starts starts;
};

/// A ring of 400 links and 1,600 flows over three in a row each: many bottlenecks, and each change reaches few of them.
Instance random_ring(const Shape& shape, Random& random) {
  Instance made;
  constexpr std::uint32_t kLinks = 400;
  for (std::uint32_t l = 0; l < kLinks; ++l) {
    made.recipe.resources.push_back({1e9 * static_cast<double>(20 + (shape.even ? 0 : random.below(10)))});
  }
  for (std::uint32_t f = 0; f < 4 * kLinks; ++f) {
    Route route;
    const std::uint32_t first = random.below(kLinks);
    for (std::uint32_t u = 0; u < 3; ++u) route.uses.push_back({ResourceId{(first + u) % kLinks}});
    if (shape.limits) route.limit = {1e9 * (1 + (shape.even ? random.below(3) : random.below(1000) / 300.0))};
    made.recipe.routes.push_back(route);
    made.starts[Time{shape.staggered ? random.between(0, 20'000'000) : 0}].push_back(
        {RouteId{f}, Bytes{shape.even ? 50'000 : random.between(20'000, 80'000)}});
  }
  return made;
}

/// An all-to-all of 20 to 26 ranks in leaves of 4.
Instance random_instance(const Shape& shape, Random& random) {
  Instance made;
  Recipe& recipe = made.recipe;
  const std::uint32_t ranks = 20 + random.below(7), leaves = (ranks + 3) / 4, spines = 2;
  const auto add = [&](double low, double high) {
    recipe.resources.push_back({shape.even ? high : random.real(low, high)});
    return ResourceId{static_cast<std::uint32_t>(recipe.resources.size() - 1)};
  };
  std::vector<ResourceId> up, down, leaf_up, leaf_down;
  for (std::uint32_t r = 0; r < ranks; ++r) up.push_back(add(1e10, 4e10)), down.push_back(add(1e10, 4e10));
  for (std::uint32_t l = 0; l < leaves * spines; ++l) {
    leaf_up.push_back(add(2e10, 6e10));
    leaf_down.push_back(add(2e10, 6e10));
  }
  const auto load = [&] { return shape.weights ? random.real(0.2, 2) : 1.0; };
  const auto start = [&](std::int64_t latest) {
    const Time at{shape.staggered ? random.between(0, latest) : 0};
    made.starts[at].push_back({RouteId{static_cast<std::uint32_t>(recipe.routes.size() - 1)},
                               Bytes{shape.even ? 40'000 : random.between(1'000, 80'000)}});
  };
  for (std::uint32_t from = 0; from < ranks; ++from) {
    for (std::uint32_t to = 0; to < ranks; ++to) {
      if (from == to) continue;
      Route route{.uses = {{up[from], load()}, {down[to], load()}}};
      if (shape.spines && from / 4 != to / 4) {
        const std::uint32_t spine = random.below(spines);
        route.uses.push_back({leaf_up[from / 4 * spines + spine], load()});
        route.uses.push_back({leaf_down[to / 4 * spines + spine], load()});
      }
      if (shape.weights) route.weight = random.real(0.3, 3);
      if (shape.limits && random.one_in(2)) {
        route.limit = {random.one_in(2) ? 8e8 * (1 + random.below(2)) : random.real(2e8, 4e9)};
      }
      recipe.routes.push_back(route);
      for (std::uint32_t f = random.one_in(6) ? 3 : 1; f-- > 0;) start(20'000'000);
    }
  }
  for (std::uint32_t i = 0; shape.islands && i < 12; ++i) {
    const ResourceId link = add(1e9, 4e9);
    recipe.routes.push_back({.uses = {{link}}});
    start(1);
    start(40'000'000);
    recipe.routes.push_back({.uses = {{link}, {up[random.below(ranks)]}}});
    made.starts[Time{random.between(1, 30'000'000)}].push_back(
        {RouteId{static_cast<std::uint32_t>(recipe.routes.size() - 1)}, Bytes{random.between(1'000, 80'000)}});
  }
  return made;
}

class LargeComponents : public testing::TestWithParam<Shape> {};

TEST_P(LargeComponents, HaveTheRatesOfWaterFilling) {
  const std::uint64_t seeds = test::long_run() ? 3 : 1;
  const std::size_t every =
      std::size_t{GetParam().ring ? 151u : 29u} * (test::kSanitized ? 4 : 1);  // instant that is checked
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    const Instance instance = GetParam().ring ? random_ring(GetParam(), random) : random_instance(GetParam(), random);
    const Recipe& recipe = instance.recipe;
    const TaskGraph graph = graph_of(recipe.resources, recipe.routes);
    FlowNetwork network(graph);
    std::vector<double> moved(recipe.routes.size()), asked(recipe.routes.size());
    for (const auto& [at, burst] : instance.starts) {
      for (const Start& start : burst) asked[index(start.route)] += static_cast<double>(start.bytes.value);
    }
    std::size_t instants = 0;
    const std::vector<Time> end = drive(network, instance.starts, [&](Time now, Time until) {
      std::vector<std::uint32_t> flows;
      std::vector<double> load(recipe.resources.size());
      for (std::uint32_t r = 0; r < recipe.routes.size(); ++r) {
        const double rate = network.rate(RouteId{r}).value;
        flows.push_back(network.flows(RouteId{r}));
        moved[r] += rate * flows[r] * to_seconds(until - now);
        for (const Use& use : recipe.routes[r].uses) load[index(use.resource)] += use.load * rate * flows[r];
      }
      for (std::size_t l = 0; l < load.size(); ++l) {
        ASSERT_LE(load[l], recipe.resources[l].value * (1 + kLargeTolerance))
            << "resource " << l << " at " << now.value;
      }
      if (++instants % every != 0) return;
      const std::vector<double> fair = water_filling(recipe, flows);
      for (std::uint32_t r = 0; r < fair.size(); ++r) {
        ASSERT_NEAR(network.rate(RouteId{r}).value, fair[r], kLargeTolerance * fair[r])
            << "route " << r << " at " << now.value;
      }
    });
    if (HasFatalFailure()) return;
    EXPECT_EQ(std::count(end.begin(), end.end(), Time{-1}), 0) << "a flow never ended";
    for (std::size_t r = 0; r < moved.size(); ++r) {
      ASSERT_NEAR(moved[r], asked[r], 0.2 + 1e-9 * asked[r]) << "route " << r;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, LargeComponents,
    testing::Values(Shape{.ring = true}, Shape{.ring = true, .staggered = true}, Shape{.ring = true, .limits = true},
                    Shape{.ring = true, .limits = true, .staggered = true}, Shape{.ring = true, .even = true},
                    Shape{.ring = true, .even = true, .staggered = true},
                    Shape{.ring = true, .limits = true, .even = true, .staggered = true}, Shape{},
                    Shape{.staggered = true}, Shape{.even = true}, Shape{.even = true, .staggered = true},
                    Shape{.spines = true}, Shape{.spines = true, .even = true, .staggered = true},
                    Shape{.spines = true, .weights = true, .staggered = true}, Shape{.spines = true, .limits = true},
                    Shape{.limits = true, .staggered = true},
                    Shape{.weights = true, .limits = true, .even = true, .staggered = true}, Shape{.islands = true},
                    Shape{.islands = true, .staggered = true},
                    Shape{.spines = true, .weights = true, .limits = true, .islands = true, .staggered = true}));

}  // namespace
}  // namespace stepcast::sim
