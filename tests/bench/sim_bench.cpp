// Transfers and flows per second of sim::run. Items are transfers.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <random>
#include <vector>

#include "sim/event_queue.h"
#include "sim/executor.h"

namespace stepcast::sim {
namespace {

constexpr Bandwidth kPort{25e9};

/// A ring all-reduce over n ranks of one switch: 2 (n - 1) steps of n sends, each after the sender's previous send
/// and after what it passes on has arrived.
TaskGraph ring(std::uint32_t n) {
  TaskGraph graph;
  std::vector<ResourceId> up, down;
  for (std::uint32_t r = 0; r < n; ++r) {
    up.push_back(graph.add_resource(kPort));
    down.push_back(graph.add_resource(kPort));
  }
  std::vector<RouteId> route;
  for (std::uint32_t r = 0; r < n; ++r) {
    route.push_back(graph.add_route({.uses = {{up[r]}, {down[(r + 1) % n]}}, .latency = microseconds(1)}));
  }
  const std::uint32_t steps = 2 * (n - 1);
  graph.reserve(std::size_t{steps} * n, std::size_t{2} * steps * n);
  for (std::uint32_t s = 0; s < steps; ++s) {
    for (std::uint32_t r = 0; r < n; ++r) {
      const TaskId send = graph.transfer(route[r], Bytes{1 << 20});
      if (s == 0) continue;
      graph.after(send, TaskId{(s - 1) * n + r});
      graph.after(send, TaskId{(s - 1) * n + (r + n - 1) % n});
    }
  }
  return graph;
}

void BM_ring_all_reduce_run(benchmark::State& state) {
  const TaskGraph graph = ring(static_cast<std::uint32_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(run(graph).end);
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(graph.tasks().size()));
}
BENCHMARK(BM_ring_all_reduce_run)->Arg(64)->Arg(256)->Arg(1024)->Unit(benchmark::kMillisecond);

void BM_ring_all_reduce_build_and_run(benchmark::State& state) {
  std::size_t tasks = 0;
  for (auto _ : state) {
    const TaskGraph graph = ring(static_cast<std::uint32_t>(state.range(0)));
    tasks = graph.tasks().size();
    benchmark::DoNotOptimize(run(graph).end);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(tasks));
}
BENCHMARK(BM_ring_all_reduce_build_and_run)->Arg(256)->Arg(1024)->Unit(benchmark::kMillisecond);

/// Every rank sends to every other at once; `spread` > 0 makes the sizes random.
TaskGraph all_to_all(std::uint32_t n, std::int64_t spread) {
  TaskGraph graph;
  std::mt19937_64 random(1);
  std::uniform_int_distribution<std::int64_t> extra(0, spread);
  std::vector<ResourceId> up, down;
  for (std::uint32_t r = 0; r < n; ++r) {
    up.push_back(graph.add_resource(kPort));
    down.push_back(graph.add_resource(kPort));
  }
  graph.reserve(std::size_t{n} * (n - 1), 0);
  for (std::uint32_t from = 0; from < n; ++from) {
    for (std::uint32_t to = 0; to < n; ++to) {
      if (from == to) continue;
      const RouteId route = graph.add_route({.uses = {{up[from]}, {down[to]}}, .latency = microseconds(1)});
      graph.transfer(route, Bytes{(1 << 20) + extra(random)});
    }
  }
  return graph;
}

void BM_all_to_all_build_and_run(benchmark::State& state) {
  const auto n = static_cast<std::uint32_t>(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(run(all_to_all(n, 0)).end);
  state.SetItemsProcessed(state.iterations() * n * (n - 1));
}
BENCHMARK(BM_all_to_all_build_and_run)->Arg(64)->Arg(256)->Arg(512)->Unit(benchmark::kMillisecond);

void BM_all_to_all_staggered_run(benchmark::State& state) {
  const auto n = static_cast<std::uint32_t>(state.range(0));
  const TaskGraph graph = all_to_all(n, 1 << 20);
  for (auto _ : state) benchmark::DoNotOptimize(run(graph).end);
  state.SetItemsProcessed(state.iterations() * n * (n - 1));
}
BENCHMARK(BM_all_to_all_staggered_run)->Arg(16)->Arg(32)->Arg(64)->Unit(benchmark::kMillisecond);

/// Chains of work on streams: range(0) streams, range(1) tasks each, all of one duration.
void BM_streams_run(benchmark::State& state) {
  TaskGraph graph;
  for (std::int64_t s = 0; s < state.range(0); ++s) {
    const StreamId stream = graph.add_stream();
    for (std::int64_t t = 0; t < state.range(1); ++t) graph.work(stream, microseconds(1 + (t % 7)));
  }
  for (auto _ : state) benchmark::DoNotOptimize(run(graph).end);
  state.SetItemsProcessed(state.iterations() * state.range(0) * state.range(1));
}
BENCHMARK(BM_streams_run)->Args({16, 1000})->Args({1024, 1000})->Unit(benchmark::kMillisecond);

/// The queue alone: range(0) events pending, times drawn from range(1) distinct delays.
void BM_event_queue_hold(benchmark::State& state) {
  std::mt19937_64 random(1);
  std::uniform_int_distribution<std::int64_t> delay(1, state.range(1));
  EventQueue queue;
  for (std::int64_t i = 0; i < state.range(0); ++i) queue.schedule(Time{delay(random)}, {});
  for (auto _ : state) {
    const Event event = queue.take();
    queue.schedule(queue.now() + Time{delay(random)}, event);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_event_queue_hold)->Args({1024, 8})->Args({1024, 1'000'000'000})->Args({262144, 1'000'000'000});

}  // namespace
}  // namespace stepcast::sim
