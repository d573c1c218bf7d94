// Every rank sends to every other at once, a flow for each pair: how long it takes, and how much memory a flow.
// Items are flows; bytes_per_flow is what the process's memory grows by at its peak.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <span>

#include "collectives/timing/timer.h"
#include "sim/executor.h"
#include "tests/bench/peak_memory.h"
#include "tests/collectives/fixtures.h"

namespace stepcast {
namespace {

/// Runs `work` over and over and tells what a flow takes.
template <class Work>
void measure(benchmark::State& state, std::uint32_t ranks, Work work) {
  const double flows = static_cast<double>(ranks) * (ranks - 1);
  std::size_t most = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const test::PeakMemory memory;
    state.ResumeTiming();
    work();
    state.PauseTiming();
    most = std::max(most, memory.bytes());
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(flows));
  state.counters["bytes_per_flow"] = static_cast<double>(most) / flows;
}

/// A graph of flows over one switch, and its run. Argument: ranks.
void direct_exchange_graph(benchmark::State& state) {
  const auto ranks = static_cast<std::uint32_t>(state.range(0));
  measure(state, ranks, [&] {
    sim::TaskGraph graph;
    for (std::uint32_t port = 0; port < 2 * ranks; ++port) graph.add_resource(Bandwidth{25e9});
    graph.reserve(std::size_t{ranks} * (ranks - 1), 0);
    graph.reserve_routes(std::size_t{ranks} * (ranks - 1));
    sim::Route route{.uses = {{}, {}}, .latency = microseconds(1)};
    for (std::uint32_t from = 0; from < ranks; ++from) {
      for (std::uint32_t to = 0; to < ranks; ++to) {
        if (from == to) continue;
        route.uses[0].resource = sim::ResourceId{from};
        route.uses[1].resource = sim::ResourceId{ranks + to};
        graph.transfer(graph.add_route(route), Bytes{1 << 20});
      }
    }
    benchmark::DoNotOptimize(sim::run(graph).end);
  });
}
BENCHMARK(direct_exchange_graph)->Arg(512)->Arg(1024)->Unit(benchmark::kMillisecond);

/// All that becomes of an all-to-all of which nothing is folded: its plan, laid over the links, as a graph, and its
/// run. Arguments: nodes, GPUs of each.
void direct_exchange(benchmark::State& state, const char* fabric, const char* routing) {
  const auto nodes = static_cast<std::uint32_t>(state.range(0)), gpus = static_cast<std::uint32_t>(state.range(1));
  const topology::Cluster cluster =
      collectives::test::build({.nodes = nodes, .gpus = gpus, .fabric = fabric, .radix = 64, .routing = routing});
  const collectives::Group group = collectives::test::gpus(nodes * gpus);
  measure(state, nodes * gpus, [&] {
    const collectives::Timer timer(cluster, {.nvlink_step = microseconds(2), .network_step = microseconds(5)});
    benchmark::DoNotOptimize(timer
                                 .time(collectives::Operation::all_to_all, {std::int64_t{1} << 30},
                                       std::span(&group, 1), "direct/Simple", false)
                                 .duration);
  });
}
BENCHMARK_CAPTURE(direct_exchange, one_switch, "one-switch", "adaptive")
    ->ArgNames({"nodes", "gpus"})
    ->Args({1024, 1})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(direct_exchange, rails, "rail-fat-tree", "adaptive")
    ->ArgNames({"nodes", "gpus"})
    ->Args({128, 8})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(direct_exchange, hashed, "rail-fat-tree", "hash")
    ->ArgNames({"nodes", "gpus"})
    ->Args({128, 8})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stepcast
