#include <benchmark/benchmark.h>

#include "collectives/algorithms.h"
#include "collectives/timing/lower.h"
#include "collectives/timing/timer.h"
#include "collectives/timing/wiring.h"
#include "sim/executor.h"
#include "tests/collectives/fixtures.h"

namespace stepcast::collectives {
namespace {

/// A whole plan on one switch with one GPU per node.
struct Whole {
  topology::Cluster cluster;
  CollectivePlan plan;
  Wiring wiring;
  Whole(Operation operation, std::string_view name, std::uint32_t ranks)
      : cluster(test::build({.nodes = ranks, .gpus = 1})) {
    plan = make(operation, name, ranks);
    const Group group = test::gpus(ranks);
    wiring = *wire(plan, place(cluster, std::span(&group, 1)), cluster, {.network_step = microseconds(3)}, {}, 1);
  }
  static CollectivePlan make(Operation operation, std::string_view name, std::uint32_t ranks) {
    return algorithm(name).plan(
        {.operation = operation, .ranks = ranks, .elements = std::int64_t{ranks} * 4096, .nodes = ranks});
  }
};

void whole(benchmark::State& state, Operation operation, std::string_view name, bool all) {
  const auto ranks = static_cast<std::uint32_t>(state.range(0));
  const Whole work(operation, name, ranks);
  const sim::TaskGraph ready = lower(work.plan, work.wiring);
  for (auto _ : state) {
    if (all) {
      const CollectivePlan plan = Whole::make(operation, name, ranks);
      benchmark::DoNotOptimize(sim::run(lower(plan, work.wiring)).end);
    } else {
      benchmark::DoNotOptimize(sim::run(ready).end);
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(work.plan.transfers.size()));
}

BENCHMARK_CAPTURE(whole, ring_all_reduce_plan_lower_run, Operation::all_reduce, "ring", true)
    ->Arg(256)
    ->Arg(1024)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(whole, ring_all_reduce_run, Operation::all_reduce, "ring", false)
    ->Arg(256)
    ->Arg(1024)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(whole, all_to_all_plan_lower_run, Operation::all_to_all, "direct", true)
    ->Arg(512)
    ->Unit(benchmark::kMillisecond);

topology::Cluster build_for(std::uint32_t nodes, const char* fabric) {
  return test::build({.nodes = nodes, .gpus = 8, .fabric = fabric, .radix = nodes > 512 ? 64u : 40u});
}

/// A timer that has never seen the group: wiring, latency, choice and all. Argument: nodes of 8 GPUs.
void folded(benchmark::State& state, Operation operation, std::string_view name, const char* fabric) {
  const auto nodes = static_cast<std::uint32_t>(state.range(0));
  const topology::Cluster cluster = build_for(nodes, fabric);
  const Group group = test::gpus(nodes * 8);
  for (auto _ : state) {
    Timer timer(cluster, {.nvlink_step = microseconds(2), .network_step = microseconds(5)});
    benchmark::DoNotOptimize(
        timer.time(operation, {std::int64_t{nodes} * 64 * 100'000}, std::span(&group, 1), name).duration);
  }
}

BENCHMARK_CAPTURE(folded, all_gather_auto, Operation::all_gather, "auto", "rail-fat-tree")
    ->Arg(140)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(folded, all_reduce_auto, Operation::all_reduce, "auto", "rail-fat-tree")
    ->Arg(140)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(folded, all_reduce_of_16384_gpus, Operation::all_reduce, "auto", "rail-fat-tree")
    ->Arg(2048)
    ->Unit(benchmark::kMillisecond);

BENCHMARK_CAPTURE(folded, all_to_all_direct, Operation::all_to_all, "direct", "rail-fat-tree")
    ->Arg(512)
    ->Arg(2048)
    ->Unit(benchmark::kMillisecond);

/// An all-to-all's plan laid over the links: ways by kinds of nodes beside the way of each pair. Argument: nodes of 8.
void laid(benchmark::State& state, WaySearch search) {
  const auto nodes = static_cast<std::uint32_t>(state.range(0));
  const topology::Cluster cluster = build_for(nodes, "rail-fat-tree");
  const Group group = test::gpus(nodes * 8);
  const GroupPlacement placement = place(cluster, std::span(&group, 1));
  Request request = request_on(cluster, placement, Operation::all_to_all, 8, {});
  request.fold = algorithm("direct").symmetry(request);
  const CollectivePlan plan = algorithm("direct").plan(request);
  for (auto _ : state) benchmark::DoNotOptimize(wire(plan, placement, cluster, {}, request.fold, 1, search)->aside);
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(placement.ranks) * (placement.ranks - 1));
}
BENCHMARK_CAPTURE(laid, all_to_all_by_kind_of_nodes, WaySearch::by_kind_of_nodes)
    ->Arg(128)
    ->Arg(256)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(laid, all_to_all_each_pair, WaySearch::each)->Arg(128)->Arg(256)->Unit(benchmark::kMillisecond);

/// Another size over a group whose routes the timer has laid. Argument: nodes of 8 GPUs.
void folded_again(benchmark::State& state, std::string_view name) {
  const auto nodes = static_cast<std::uint32_t>(state.range(0));
  Timer timer(build_for(nodes, "rail-fat-tree"), {.nvlink_step = microseconds(2), .network_step = microseconds(5)});
  const Group group = test::gpus(nodes * 8);
  Bytes bytes{std::int64_t{1} << 30};
  timer.time(Operation::all_reduce, bytes, std::span(&group, 1), name);
  for (auto _ : state) {
    bytes += Bytes{std::int64_t{nodes} * 64};
    benchmark::DoNotOptimize(timer.time(Operation::all_reduce, bytes, std::span(&group, 1), name).duration);
  }
}
BENCHMARK_CAPTURE(folded_again, all_reduce_auto, "auto")->Arg(2048)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(folded_again, all_reduce_double_binary_tree, "double-binary-tree")
    ->Arg(2048)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(folded_again, all_reduce_ring, "ring")->Arg(2048)->Unit(benchmark::kMillisecond);

BENCHMARK_CAPTURE(folded, all_reduce_ring, Operation::all_reduce, "ring", "one-switch")
    ->Arg(140)
    ->Arg(512)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stepcast::collectives
