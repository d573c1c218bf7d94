// The hard case of a fair-share network: flows of one connected component that start and end at different times, so
// that each start and each end changes the rates of many others. Items are flows.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "sim/executor.h"
#include "tests/bench/filled_anew.h"

namespace stepcast::sim {
namespace {

constexpr Bandwidth kStaggeredPort{25e9};

/// What the ranks are joined by.
enum class Fabric : std::uint8_t {
  one_switch,  ///< a port up and a port down for each rank
  spines,      ///< leaves of 8 ranks with 4 spines above them, two ranks' bandwidth to each; a pair's spine is fixed
};

/// Every rank sends 1 to 2 MiB to every other. `stagger` > 0: each flow starts at a random time within that part of
/// what the busiest port needs for all of its bytes.
TaskGraph all_to_all(std::uint32_t ranks, Fabric fabric, double stagger) {
  constexpr std::uint32_t kLeaf = 8, kSpines = 4;
  TaskGraph graph;
  std::mt19937_64 random(1);
  std::uniform_int_distribution<std::int64_t> bytes(1 << 20, 2 << 20);
  const double all_take = 1.5 * (1 << 20) * ranks / kStaggeredPort.value * kPicosecondsPerSecond;
  std::uniform_int_distribution<std::int64_t> start(1, 1 + static_cast<std::int64_t>(stagger * all_take));
  std::vector<ResourceId> up, down, leaf_up, leaf_down;
  for (std::uint32_t r = 0; r < ranks; ++r) {
    up.push_back(graph.add_resource(kStaggeredPort));
    down.push_back(graph.add_resource(kStaggeredPort));
  }
  for (std::uint32_t l = 0; fabric == Fabric::spines && l < ranks / kLeaf * kSpines; ++l) {
    leaf_up.push_back(graph.add_resource(kStaggeredPort * 2));
    leaf_down.push_back(graph.add_resource(kStaggeredPort * 2));
  }
  for (std::uint32_t from = 0; from < ranks; ++from) {
    for (std::uint32_t to = 0; to < ranks; ++to) {
      if (from == to) continue;
      Route route{.uses = {{up[from]}}, .latency = microseconds(1)};
      if (fabric == Fabric::spines && from / kLeaf != to / kLeaf) {
        const auto spine = static_cast<std::uint32_t>(random() % kSpines);
        route.uses.push_back({leaf_up[from / kLeaf * kSpines + spine]});
        route.uses.push_back({leaf_down[to / kLeaf * kSpines + spine]});
      }
      route.uses.push_back({down[to]});
      const TaskId flow = graph.transfer(graph.add_route(std::move(route)), Bytes{bytes(random)});
      if (stagger > 0) graph.after(flow, graph.work(std::span<const StreamId>{}, Time{start(random)}));
    }
  }
  return graph;
}

void run_all_to_all(benchmark::State& state, Fabric fabric, double stagger) {
  const auto ranks = static_cast<std::uint32_t>(state.range(0));
  const TaskGraph graph = all_to_all(ranks, fabric, stagger);
  for (auto _ : state) benchmark::DoNotOptimize(run(graph).end);
  state.SetItemsProcessed(state.iterations() * ranks * (ranks - 1));
}

/// The same, all rates found from nothing after each start and end. Both must end together.
void run_all_to_all_filled_anew(benchmark::State& state, Fabric fabric, double stagger) {
  const auto ranks = static_cast<std::uint32_t>(state.range(0));
  const TaskGraph graph = all_to_all(ranks, fabric, stagger);
  double end = 0;
  for (auto _ : state) end = test::filled_anew(graph);
  if (std::abs(end - to_seconds(run(graph).end)) > 1e-6 * end) state.SkipWithError("the two ways end at unlike times");
  state.SetItemsProcessed(state.iterations() * ranks * (ranks - 1));
}

BENCHMARK_CAPTURE(run_all_to_all_filled_anew, random_sizes, Fabric::one_switch, 0)
    ->Arg(32)
    ->Arg(64)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_all_to_all_filled_anew, random_sizes_and_starts_over_spines, Fabric::spines, 1)
    ->Arg(32)
    ->Arg(64)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_all_to_all, random_sizes, Fabric::one_switch, 0)
    ->Arg(64)
    ->Arg(128)
    ->Arg(256)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_all_to_all, random_sizes_and_starts, Fabric::one_switch, 1)
    ->Arg(64)
    ->Arg(128)
    ->Arg(256)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_all_to_all, random_sizes_over_spines, Fabric::spines, 0)
    ->Arg(64)
    ->Arg(128)
    ->Arg(256)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_all_to_all, random_sizes_and_starts_over_spines, Fabric::spines, 1)
    ->Arg(64)
    ->Arg(128)
    ->Arg(256)
    ->Unit(benchmark::kMillisecond);

/// A ring of links, from each of which a flow of 1 to 2 MiB goes over it and the next `hops` - 1: one component in
/// which an end is felt by few. `stagger`: flows start at random times within what one of them takes alone.
TaskGraph sparse_ring(std::uint32_t links, std::uint32_t hops, bool stagger) {
  TaskGraph graph;
  std::mt19937_64 random(1);
  std::uniform_int_distribution<std::int64_t> bytes(1 << 20, 2 << 20), start(1, microseconds(60).value);
  for (std::uint32_t l = 0; l < links; ++l) graph.add_resource(kStaggeredPort);
  for (std::uint32_t l = 0; l < links; ++l) {
    Route route{.latency = microseconds(1)};
    for (std::uint32_t hop = 0; hop < hops; ++hop) route.uses.push_back({ResourceId{(l + hop) % links}});
    const TaskId flow = graph.transfer(graph.add_route(route), Bytes{bytes(random)});
    if (stagger) graph.after(flow, graph.work(std::span<const StreamId>{}, Time{start(random)}));
  }
  return graph;
}

void run_sparse_ring(benchmark::State& state, bool stagger) {
  const auto links = static_cast<std::uint32_t>(state.range(0));
  const TaskGraph graph = sparse_ring(links, static_cast<std::uint32_t>(state.range(1)), stagger);
  for (auto _ : state) benchmark::DoNotOptimize(run(graph).end);
  state.SetItemsProcessed(state.iterations() * links);
}
BENCHMARK_CAPTURE(run_sparse_ring, starting_together, false)
    ->ArgNames({"links", "hops"})
    ->ArgsProduct({{1024, 4096}, {2, 3}})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_sparse_ring, starting_at_random, true)
    ->ArgNames({"links", "hops"})
    ->ArgsProduct({{1024, 4096}, {2, 3}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stepcast::sim
