// What must hold for every graph, on random ones. A failure prints its seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "sim/executor.h"
#include "tests/sim/random_graph.h"

namespace stepcast::sim {
namespace {

constexpr std::uint64_t kSeeds = 1000;

TEST(ExecutorProperty, ATaskStartsWhenTheLastItWaitsForEnds) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const TaskGraph graph = random_recipe(seed).build();
    const Timeline timeline = run(graph);
    std::vector<Time> ready(graph.tasks().size());
    for (const auto& [earlier, later] : graph.dependencies()) {
      ready[index(later)] = std::max(ready[index(later)], timeline.finish[index(earlier)]);
    }
    ASSERT_EQ(timeline.start, ready) << "seed " << seed;
    ASSERT_EQ(timeline.end, *std::max_element(timeline.finish.begin(), timeline.finish.end())) << "seed " << seed;
  }
}

TEST(ExecutorProperty, StreamsAreFirstInFirstOut) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Recipe recipe = random_recipe(seed);
    const Timeline timeline = run(recipe.build());
    std::vector<Time> free(recipe.streams);
    for (std::size_t t = 0; t < recipe.tasks.size(); ++t) {
      if (!recipe.tasks[t].stream) continue;
      ASSERT_GE(timeline.start[t], free[*recipe.tasks[t].stream]) << "seed " << seed << " task " << t;
      free[*recipe.tasks[t].stream] = timeline.finish[t];
    }
  }
}

TEST(ExecutorProperty, WorkTakesItsDurationAndATransferNoLessThanAlone) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Recipe recipe = random_recipe(seed);
    const Timeline timeline = run(recipe.build());
    for (std::size_t t = 0; t < recipe.tasks.size(); ++t) {
      const Recipe::Task& task = recipe.tasks[t];
      const Time took = timeline.finish[t] - timeline.start[t];
      if (!task.route) {
        ASSERT_EQ(took, Time{task.amount}) << "seed " << seed << " task " << t;
        continue;
      }
      Recipe alone{.resources = recipe.resources, .routes = recipe.routes};
      alone.tasks.push_back({.route = task.route, .amount = task.amount});
      const Time least = run(alone.build()).end;
      ASSERT_GE(took, least) << "seed " << seed << " task " << t;
      if (task.amount == 0) {
        ASSERT_EQ(took, recipe.routes[*task.route].latency) << "seed " << seed << " task " << t;
      }
    }
  }
}

TEST(ExecutorProperty, EachResourceCarriesTheBytesTimesTheirLoads) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Recipe recipe = random_recipe(seed);
    const Timeline timeline = run(recipe.build());
    std::vector<double> sum(recipe.resources.size(), 0.0);
    for (const Recipe::Task& task : recipe.tasks) {
      if (!task.route) continue;
      for (const Use& use : recipe.routes[*task.route].uses) {
        sum[index(use.resource)] += use.load * static_cast<double>(task.amount);
      }
    }
    ASSERT_EQ(timeline.carried.size(), sum.size());
    for (std::size_t l = 0; l < sum.size(); ++l) {
      ASSERT_NEAR(timeline.carried[l], sum[l], 1e-9 * sum[l]) << "seed " << seed << " resource " << l;
      // Capacity over the whole run, a picosecond of grace for each transfer.
      const double room =
          recipe.resources[l].value * (to_seconds(timeline.end) + 1e-12 * static_cast<double>(recipe.tasks.size()));
      ASSERT_LE(timeline.carried[l], room * (1 + 1e-9)) << "seed " << seed << " resource " << l;
    }
  }
}

TEST(ExecutorProperty, TheSameGraphGivesTheSameTimeline) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const TaskGraph graph = random_recipe(seed).build();
    const Timeline one = run(graph), two = run(graph);
    ASSERT_EQ(one.start, two.start) << "seed " << seed;
    ASSERT_EQ(one.finish, two.finish) << "seed " << seed;
    ASSERT_EQ(one.carried, two.carried) << "seed " << seed;
  }
}

/// Streams are orders of adding, so they are turned into dependencies first.
void streams_to_dependencies(Recipe& recipe) {
  std::vector<std::optional<std::uint32_t>> last(recipe.streams);
  for (std::uint32_t t = 0; t < recipe.tasks.size(); ++t) {
    if (!recipe.tasks[t].stream) continue;
    auto& before = last[*recipe.tasks[t].stream];
    if (before) recipe.after.emplace_back(t, *before);
    before = t;
    recipe.tasks[t].stream.reset();
  }
}

/// place[i]: where item i goes.
std::vector<std::uint32_t> random_places(std::size_t n, Random& random) {
  std::vector<std::uint32_t> place(n);
  std::iota(place.begin(), place.end(), 0u);
  random.shuffle(place);
  return place;
}

TEST(ExecutorProperty, TheOrderOfAddingTasksDoesNotMatter) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Recipe recipe = random_recipe(seed);
    streams_to_dependencies(recipe);
    Random random(seed + 1'000'000);
    const auto place = random_places(recipe.tasks.size(), random);
    Recipe shuffled = recipe;
    for (std::size_t t = 0; t < place.size(); ++t) shuffled.tasks[place[t]] = recipe.tasks[t];
    for (auto& [later, earlier] : shuffled.after) later = place[later], earlier = place[earlier];
    random.shuffle(shuffled.after);
    const Timeline one = run(recipe.build()), two = run(shuffled.build());
    for (std::size_t t = 0; t < place.size(); ++t) {
      ASSERT_EQ(one.start[t], two.start[place[t]]) << "seed " << seed << " task " << t;
      ASSERT_EQ(one.finish[t], two.finish[place[t]]) << "seed " << seed << " task " << t;
    }
    ASSERT_EQ(one.end, two.end) << "seed " << seed;
  }
}

TEST(ExecutorProperty, TheNumberingOfRoutesAndResourcesDoesNotMatter) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Recipe recipe = random_recipe(seed);
    Random random(seed + 2'000'000);
    const auto route_place = random_places(recipe.routes.size(), random);
    const auto resource_place = random_places(recipe.resources.size(), random);
    Recipe shuffled = recipe;
    for (std::size_t l = 0; l < resource_place.size(); ++l) shuffled.resources[resource_place[l]] = recipe.resources[l];
    for (std::size_t r = 0; r < route_place.size(); ++r) {
      Route& route = shuffled.routes[route_place[r]] = recipe.routes[r];
      for (Use& use : route.uses) use.resource = ResourceId{resource_place[index(use.resource)]};
      random.shuffle(route.uses);
    }
    for (auto& task : shuffled.tasks) {
      if (task.route) task.route = route_place[*task.route];
    }
    const Timeline one = run(recipe.build()), two = run(shuffled.build());
    ASSERT_EQ(one.finish, two.finish) << "seed " << seed;
  }
}

TEST(ExecutorProperty, RatesTimesTwoAndLatenciesHalvedHalveEveryTime) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Recipe recipe = random_recipe(seed);
    Recipe fast = recipe;
    for (Bandwidth& capacity : fast.resources) capacity = capacity * 2;
    for (Route& route : fast.routes) {
      route.limit = route.limit * 2;
      route.latency = Time{route.latency.value / 2};  // even in every recipe
    }
    for (auto& task : fast.tasks) {
      if (!task.route) task.amount /= 2;  // even too
    }
    const Timeline slow = run(recipe.build()), quick = run(fast.build());
    // Each end is rounded up to its picosecond, and what comes after inherits it.
    const auto rounding = static_cast<std::int64_t>(4 * recipe.tasks.size());
    for (std::size_t t = 0; t < recipe.tasks.size(); ++t) {
      ASSERT_LE(std::abs(slow.finish[t].value - 2 * quick.finish[t].value), rounding)
          << "seed " << seed << " task " << t;
    }
  }
}

TEST(ExecutorProperty, LikeFlowsFoldIntoOneWithTheirLoad) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Random random(seed);
    Recipe folded = random_recipe(seed);
    streams_to_dependencies(folded);
    const std::uint32_t k = 2 + random.below(7);
    const auto resource = ResourceId{random.below(static_cast<std::uint32_t>(folded.resources.size()))};
    const Route one{.uses = {{resource}}, .latency = Time{random.between(0, 1000)}, .weight = random.real(0.5, 2)};
    const std::int64_t bytes = random.between(1, 100'000);
    Recipe separate = folded, on_one_route = folded;

    const auto add = [&](Recipe& recipe, const Route& route) {
      recipe.routes.push_back(route);
      recipe.tasks.push_back({.route = static_cast<std::uint32_t>(recipe.routes.size() - 1), .amount = bytes});
    };
    Route together = one;
    together.uses[0].load = k;
    add(folded, together);
    add(on_one_route, one);
    for (std::uint32_t i = 1; i < k; ++i) on_one_route.tasks.push_back(on_one_route.tasks.back());
    for (std::uint32_t i = 0; i < k; ++i) add(separate, one);

    const Timeline a = run(folded.build()), b = run(separate.build()), c = run(on_one_route.build());
    for (std::size_t t = 0; t < folded.tasks.size(); ++t) {
      ASSERT_EQ(a.finish[t], b.finish[t]) << "seed " << seed << " task " << t << " of " << k << " folded";
      ASSERT_EQ(a.finish[t], c.finish[t]) << "seed " << seed << " task " << t << " of " << k << " folded";
    }
    for (std::size_t t = folded.tasks.size(); t < separate.tasks.size(); ++t) {
      ASSERT_EQ(b.finish[t], a.finish[folded.tasks.size() - 1]) << "seed " << seed;
      ASSERT_EQ(c.finish[t], a.finish[folded.tasks.size() - 1]) << "seed " << seed;
    }
    for (std::size_t l = 0; l < a.carried.size(); ++l) ASSERT_NEAR(a.carried[l], b.carried[l], 1e-9 * a.carried[l]);
  }
}

TEST(ExecutorProperty, ACircleIsAlwaysFoundAndIsOne) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Random random(seed);
    Recipe recipe = random_recipe(seed);
    streams_to_dependencies(recipe);
    const auto n = static_cast<std::uint32_t>(recipe.tasks.size());
    for (std::uint32_t i = 1 + random.below(3); i-- > 0;) {  // a few dependencies the wrong way round
      const std::uint32_t a = random.below(n), b = random.below(n);
      recipe.after.emplace_back(std::min(a, b), std::max(a, b));
    }
    try {
      run(recipe.build());
    } catch (const CyclicTasks& error) {
      ASSERT_FALSE(error.cycle.empty());
      for (std::size_t i = 0; i < error.cycle.size(); ++i) {
        const std::pair link(index(error.cycle[i]), index(error.cycle[(i + 1) % error.cycle.size()]));
        ASSERT_NE(std::find(recipe.after.begin(), recipe.after.end(), link), recipe.after.end()) << "seed " << seed;
      }
      continue;
    }
    // It ran: then there is an order in which every task is after those it waits for.
    std::vector<std::uint32_t> depth(n, 0);
    for (std::uint32_t round = 0; round <= n; ++round) {
      bool changed = false;
      for (const auto& [later, earlier] : recipe.after) {
        if (depth[later] <= depth[earlier]) depth[later] = depth[earlier] + 1, changed = true;
      }
      ASSERT_FALSE(changed && round == n) << "seed " << seed << ": ran a graph with a circle";
      if (!changed) break;
    }
  }
}

}  // namespace
}  // namespace stepcast::sim
