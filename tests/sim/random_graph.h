#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "sim/task_graph.h"

namespace stepcast::sim {

/// A task graph as plain lists, so that a test can shuffle, scale or fold it before building it.
struct Recipe {
  struct Task {
    std::optional<std::uint32_t> stream{};  // index
    std::optional<std::uint32_t> route{};   // nothing: work
    std::int64_t amount = 0;
  };
  std::vector<Bandwidth> resources{};
  std::vector<Route> routes{};
  std::uint32_t streams = 0;
  std::vector<Task> tasks{};
  std::vector<std::pair<std::uint32_t, std::uint32_t>> after{};  // later, earlier

  TaskGraph build() const {
    TaskGraph graph;
    for (std::uint32_t s = 0; s < streams; ++s) graph.add_stream();
    for (const Bandwidth capacity : resources) graph.add_resource(capacity);
    for (const Route& route : routes) graph.add_route(route);
    for (const Task& task : tasks) {
      std::vector<StreamId> on;
      if (task.stream) on.push_back(StreamId{*task.stream});
      if (task.route) {
        graph.transfer(on, RouteId{*task.route}, Bytes{task.amount});
      } else {
        graph.work(on, Time{task.amount});
      }
    }
    for (const auto& [later, earlier] : after) graph.after(TaskId{later}, TaskId{earlier});
    return graph;
  }
};

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(engine_() % n); }
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(high - low + 1));
  }
  double real(double low, double high) { return std::uniform_real_distribution(low, high)(engine_); }
  bool one_in(std::uint32_t n) { return below(n) == 0; }
  template <class T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[engine_() % i]);
  }

 private:
  std::mt19937_64 engine_;
};

/// Up to 10 resources and 16 routes of 0 to 4 uses; loads, weights, limits and latencies of all sorts, many equal
/// so that several resources fill at once. Every route is limited by something.
inline void add_random_network(Recipe& recipe, Random& random) {
  const bool round = random.one_in(2);  // round numbers make ties; the others make none
  const auto number = [&](double low, double high) {
    return round ? low * static_cast<double>(1 << random.below(4)) : random.real(low, high);
  };
  const std::uint32_t resources = 1 + random.below(10), routes = 1 + random.below(16);
  for (std::uint32_t i = 0; i < resources; ++i) recipe.resources.push_back({number(1e9, 4e10)});
  for (std::uint32_t i = 0; i < routes; ++i) {
    Route route{.latency = random.one_in(3) ? Time{} : Time{2 * random.between(0, 1'000'000)}};
    for (std::uint32_t u = random.below(5); u-- > 0;) {
      route.uses.push_back({ResourceId{random.below(resources)}, random.one_in(2) ? 1.0 : number(0.25, 4)});
    }
    if (route.uses.empty() || random.one_in(4)) route.limit = {number(5e8, 1e10)};
    if (random.one_in(3)) route.weight = number(0.5, 8);
    recipe.routes.push_back(route);
  }
}

/// A random network and up to 60 tasks over it, on streams and with dependencies from any earlier task.
inline Recipe random_recipe(std::uint64_t seed) {
  Random random(seed);
  Recipe recipe;
  add_random_network(recipe, random);
  recipe.streams = 1 + random.below(4);
  const std::uint32_t tasks = 1 + random.below(60);
  const bool equal_sizes = random.one_in(3);
  for (std::uint32_t t = 0; t < tasks; ++t) {
    Recipe::Task task;
    if (random.one_in(2)) task.stream = random.below(recipe.streams);
    if (random.one_in(4)) {
      task.amount = random.one_in(4) ? 0 : 2 * random.between(1, 3'000'000);
    } else {
      task.route = random.below(static_cast<std::uint32_t>(recipe.routes.size()));
      task.amount = random.one_in(8) ? 0 : equal_sizes ? 4096 : random.between(1, 100'000);
    }
    recipe.tasks.push_back(task);
    for (std::uint32_t d = random.below(3); t > 0 && d-- > 0;) recipe.after.emplace_back(t, random.below(t));
  }
  return recipe;
}

}  // namespace stepcast::sim
