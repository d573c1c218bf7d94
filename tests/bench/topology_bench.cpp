#include <benchmark/benchmark.h>

#include <random>

#include "tests/topology/machines.h"

namespace stepcast::topology {
namespace {

/// Args: GPUs, radix, 1 for hashed routing.
Cluster build(const benchmark::State& state) {
  return build_cluster(dgx(),
                       rail_fabric(static_cast<std::uint32_t>(state.range(1)), state.range(2) ? "hash" : "adaptive"),
                       static_cast<std::uint32_t>(state.range(0)));
}

void build_rail_cluster(benchmark::State& state) {
  for (auto _ : state) {
    const Cluster cluster = build(state);
    benchmark::DoNotOptimize(cluster.links());
  }
}
BENCHMARK(build_rail_cluster)
    ->ArgNames({"gpus", "radix", "hash"})
    ->Args({3072, 40, 0})
    ->Args({3072, 40, 1})
    ->Args({16384, 64, 0})
    ->Args({16384, 64, 1})
    ->Args({100'000, 40, 0})
    ->Args({100'000, 40, 1})
    ->Unit(benchmark::kMillisecond);

/// Build, and find the way from every GPU of a node to every GPU: what all other nodes' ways are like.
void routing_tables(benchmark::State& state) {
  for (auto _ : state) {
    const Cluster cluster = build(state);
    for (std::uint32_t from = 0; from < cluster.gpus_per_node(); ++from) {
      for (std::uint32_t to = 0; to < cluster.gpus(); ++to) {
        benchmark::DoNotOptimize(cluster.path(GpuId{from}, GpuId{to}).latency);
      }
    }
  }
}
BENCHMARK(routing_tables)
    ->ArgNames({"gpus", "radix", "hash"})
    ->Args({16384, 64, 0})
    ->Args({16384, 64, 1})
    ->Unit(benchmark::kMillisecond);

void random_paths(benchmark::State& state) {
  const Cluster cluster = build(state);
  std::mt19937 random(1);
  std::uniform_int_distribution<std::uint32_t> gpu(0, cluster.gpus() - 1);
  constexpr int kPaths = 100'000;
  for (auto _ : state) {
    for (int i = 0; i < kPaths; ++i) {
      const Path path = cluster.path(GpuId{gpu(random)}, GpuId{gpu(random)});
      benchmark::DoNotOptimize(path.latency);
    }
  }
  state.SetItemsProcessed(state.iterations() * kPaths);
}
BENCHMARK(random_paths)
    ->ArgNames({"gpus", "radix", "hash"})
    ->Args({16384, 64, 0})
    ->Args({16384, 64, 1})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stepcast::topology
