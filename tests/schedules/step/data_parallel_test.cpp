// ZeRO under a pipeline, hybrid sharding and parameter servers, against the collectives timed alone.

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "schedules/checks/check.h"
#include "schedules/data_parallel/groups.h"
#include "schedules/forecast.h"
#include "tests/schedules/scenarios.h"
#include "tests/schedules/timed_alone.h"

namespace stepcast::schedules {
namespace {

using collectives::Group;
using collectives::Operation;

Scenario data_parallel(std::uint32_t gpus, int zero) {
  Scenario s = round_numbers(gpus);
  s.parallelism.data = gpus;
  s.data_parallel.zero = zero;
  s.data_parallel.overlap = false;
  return s;
}

// Kernels of a collective that waits for its neighbours hold the GPU as those that move bytes do.
TEST(Overlap, MoreLatencyNeverMakesAStepFaster) {
  for (const int zero : {0, 1, 3}) {
    Scenario s = data_parallel(64, zero);
    s.data_parallel.overlap = true;
    s.software.overlap_slowdown = 0.1;
    Time before{};
    for (const std::int64_t step : {0, 5, 20, 80, 320}) {
      s.software.transport.network_step = microseconds(step);
      const Time now = forecast(s).step;
      EXPECT_GE(now, before) << "ZeRO " << zero << ", " << step << " us";
      before = now;
    }
  }
}

/// The first stage is the last to sum its gradients. The tied embeddings' sum, which both ends await, comes behind.
TEST(Split, GradientsAreSummedBeforeTheTiedEmbeddingsAndCountAsDataTraffic) {
  Scenario s = round_numbers(32);
  s.parallelism.pipeline = 4;
  s.parallelism.data = 8;
  s.training.global_batch = 128;
  s.data_parallel.overlap = false;
  ASSERT_TRUE(check(s).empty());
  const Forecast tied = forecast(s);
  s.model.variations.tied_head = false;
  const Forecast untied = forecast(s);
  const TimeSplit &first = tied.stages.front().time, &last = tied.stages.back().time;
  EXPECT_GT(first.exposed_data, Time{});
  EXPECT_GT(last.exposed_data, Time{});
  EXPECT_GT(last.bubble, untied.stages.back().time.bubble);  // for the first stage's sum it waits
  // The untied head is the last stage's own to sum; the first stage has the same gradients.
  EXPECT_EQ(first.exposed_data, untied.stages.front().time.exposed_data);
  EXPECT_EQ(first.bubble, untied.stages.front().time.bubble);
}

/// A list of `layers` on 8 GPUs, which share parameters by ZeRO 3.
Scenario sharded_network(std::vector<NetworkLayer> layers) {
  Scenario s = data_parallel(8, 3);
  s.model = {};
  s.model.family = Family::operators;
  s.model.network.layers = std::move(layers);
  s.model.layers = std::ssize(s.model.network.layers);
  s.training = {.global_batch = 32, .micro_batch = 4, .sequence = 1, .precision = Precision::fp16};
  return s;
}

NetworkLayer multiply(double parameters) {
  NetworkLayer layer;
  layer.kind = LayerKind::gemm;
  layer.m = layer.n = layer.k = 512;
  layer.parameters = parameters;
  return layer;
}

TEST(Split, GradientsCountAsDataTrafficWhereNothingIsUpdated) {
  for (const bool overlap : {false, true}) {
    Scenario s = data_parallel(16, 0);
    s.data_parallel.overlap = overlap;
    s.training.optimizer = Optimizer::none;
    const Forecast f = forecast(s);
    EXPECT_GT(f.stages.front().time.exposed_data, Time{});
    EXPECT_EQ(f.stages.front().time.idle, Time{});
    EXPECT_EQ(f.stages.front().time.optimizer, Time{});
  }
}

TEST(Zero3, NothingIsGatheredForALayerWithoutParameters) {
  for (const bool overlap : {false, true}) {
    Scenario s = sharded_network({multiply(0), multiply(0)});
    s.data_parallel.overlap = overlap;
    EXPECT_EQ(forecast(s).stages[0].time.exposed_data, Time{});
    s = sharded_network({multiply(0), multiply(1e6)});
    s.data_parallel.overlap = overlap;
    EXPECT_GT(forecast(s).stages[0].time.exposed_data, Time{});
  }
}

TEST(Zero3, GradientsOfALayerWhoseBackwardTakesNoTimeAreSummed) {
  NetworkLayer instant = multiply(1e6);
  instant.backward.emplace();
  Scenario s = sharded_network({instant});
  Alone alone(s);
  const std::vector<Group> all{alone.ranks.data_group(0, 0)};
  const auto time = [&](Operation operation, Precision sent) {
    return alone.timer.time(operation, Bytes{1'000'000 * element_bytes(sent)}, all).duration;
  };
  EXPECT_EQ(forecast(s).stages[0].time.exposed_data,
            2 * time(Operation::all_gather, Precision::fp16) + time(Operation::reduce_scatter, gradient_precision(s)));
}

TEST(ParameterServer, TakesItsCollectivesTime) {
  for (const DataParallelMode mode : {DataParallelMode::parameter_server, DataParallelMode::sharded_parameter_server}) {
    Scenario s = data_parallel(16, 0);
    s.data_parallel.mode = mode;
    const Forecast f = forecast(s);
    Alone alone(s);
    const Bytes gradients{static_cast<std::int64_t>(4 * f.parameters)};
    const std::vector<Group> all{alone.ranks.data_group(0, 0)};
    EXPECT_EQ(f.stages[0].time.exposed_data,
              alone.timer.time(Operation::all_reduce, gradients, all, algorithm(mode)).duration);
  }
}

TEST(ParameterServer, OneServersLinkBindsAndShardsSpreadIt) {
  // A server takes in the gradients of n - 1 workers and sends each the parameters over one NIC; an all-reduce does
  // not.
  Scenario s = data_parallel(32, 0);
  const Time ring = forecast(s).stages[0].time.exposed_data;
  s.data_parallel.mode = DataParallelMode::sharded_parameter_server;
  const Time sharded = forecast(s).stages[0].time.exposed_data;
  s.data_parallel.mode = DataParallelMode::parameter_server;
  const Time one = forecast(s).stages[0].time.exposed_data;
  EXPECT_LT(ring, sharded);
  EXPECT_LT(sharded * 4, one);
}

TEST(HybridSharding, ScattersInsideGroupsAndSumsAcross) {
  Scenario s = data_parallel(32, 1);
  s.data_parallel.shard_group = 8;
  const Forecast f = forecast(s);
  Alone alone(s);
  const auto n = static_cast<std::int64_t>(f.parameters);
  const std::vector<Group> shards = alone.ranks.shard_groups({}, 8), replicas = alone.ranks.replica_groups({}, 8);
  ASSERT_EQ(shards.size(), 4u);
  ASSERT_EQ(replicas.size(), 8u);
  EXPECT_EQ(shards[1], (Group{alone.ranks.gpu({0, 8, 0}), alone.ranks.gpu({0, 9, 0}), alone.ranks.gpu({0, 10, 0}),
                              alone.ranks.gpu({0, 11, 0}), alone.ranks.gpu({0, 12, 0}), alone.ranks.gpu({0, 13, 0}),
                              alone.ranks.gpu({0, 14, 0}), alone.ranks.gpu({0, 15, 0})}));
  EXPECT_EQ(replicas[2], (Group{alone.ranks.gpu({0, 2, 0}), alone.ranks.gpu({0, 10, 0}), alone.ranks.gpu({0, 18, 0}),
                                alone.ranks.gpu({0, 26, 0})}));
  const Time scattered = alone.timer.time(Operation::reduce_scatter, {4 * n}, shards).duration;
  const Time summed = alone.timer.time(Operation::all_reduce, {4 * n / 8}, replicas).duration;
  const Time gathered = alone.timer.time(Operation::all_gather, {2 * n}, shards).duration;
  EXPECT_EQ(f.stages[0].time.exposed_data, scattered + summed + gathered);
}

TEST(HybridSharding, CrossesNodesWithTheBytesOfOneAllReduceOfAShard) {
  // FSDP (arXiv 2304.11277), sec. 3.2.2, exactly: a node of G GPUs sends 2 M (W - G) / W bytes for W GPUs.
  Scenario s = data_parallel(32, 3);
  Alone alone(s);
  constexpr double kBytes = 1 << 30;
  const collectives::Timing sum = alone.timer.time(Operation::all_reduce, {static_cast<std::int64_t>(kBytes) / 8},
                                                   alone.ranks.replica_groups({}, 8), "ring");
  double out_of_a_node = 0;
  for (const auto& load : sum.loads) {
    const topology::Link link = alone.cluster.link(load.link);
    if (link.from.starts_with("node 0 / nic") && !link.to.starts_with("node 0")) out_of_a_node += load.bytes;
  }
  EXPECT_NEAR(out_of_a_node, 2 * kBytes * (32 - 8) / 32, 1);
}

TEST(HybridSharding, OfAllRanksIsFullSharding) {
  Scenario s = data_parallel(32, 3);
  const Time full = forecast(s).step;
  s.data_parallel.shard_group = 32;
  EXPECT_EQ(forecast(s).step, full);
}

TEST(HybridSharding, HoldsAShardOfTheGroup) {
  Scenario s = data_parallel(32, 3);
  const MemoryUse full = forecast(s).stages[0].memory;
  s.data_parallel.shard_group = 8;
  const MemoryUse hybrid = forecast(s).stages[0].memory;
  for (const auto part : {&MemoryUse::parameters, &MemoryUse::gradients, &MemoryUse::optimizer})
    EXPECT_NEAR(static_cast<double>((hybrid.*part).value), 4 * static_cast<double>((full.*part).value), 4);
}

TEST(ShardedPipeline, ScattersGradientsAndGathersParametersForEveryMicroBatch) {
  for (const int zero : {1, 2, 3}) {
    Scenario s = data_parallel(16, zero);
    s.parallelism = {.tensor = 1, .pipeline = 4, .data = 4};
    s.data_parallel.bucket = Bytes{1LL << 40};
    const Forecast f = forecast(s, {.unfold = false, .trace = true});
    const auto of_stage_1 = [&](std::string_view name) {
      return std::ranges::count_if(f.spans,
                                   [&](const Span& span) { return span.stage == 1 && span.name.starts_with(name); });
    };
    const std::int64_t micro_batches = 16, layers = 4;
    EXPECT_EQ(of_stage_1("gradients"), zero == 1 ? 1 : zero == 2 ? micro_batches : micro_batches * layers) << zero;
    EXPECT_EQ(of_stage_1("parameters"), zero == 3 ? 2 * micro_batches * layers : 0) << zero;
    EXPECT_EQ(of_stage_1("updated parameters"), zero == 3 ? 0 : 1) << zero;
  }
}

TEST(ShardedPipeline, PaysForEachMicroBatchWhatZero1PaysOnce) {
  Scenario s = data_parallel(16, 2);
  s.parallelism = {.tensor = 1, .pipeline = 4, .data = 4};
  s.data_parallel.bucket = Bytes{1LL << 40};
  const Forecast two = forecast(s);
  Alone alone(s);
  const Bytes of_stage_1{4 * (two.stages[1].memory.parameters.value / 2)};
  Coordinate c{0, 0, 1};
  const Time once = alone.timer.time(Operation::reduce_scatter, of_stage_1, alone.ranks.data_groups_beside(c)).duration;
  s.data_parallel.zero = 1;
  const Forecast one = forecast(s);
  EXPECT_GE(two.step - one.step, once * 15);
  EXPECT_EQ(two.stages[1].memory.gradients.value * 4, one.stages[1].memory.gradients.value);
}

TEST(SumOnce, MakesZero2WhatZero1Is) {
  for (const bool overlap : {true, false})
    for (const std::uint32_t pipeline : {1u, 4u}) {
      Scenario s = data_parallel(16, 1);
      s.parallelism = {.tensor = 1, .pipeline = pipeline, .data = 16 / pipeline};
      s.training.global_batch = std::int64_t{4} * s.parallelism.data;
      s.data_parallel.overlap = overlap;
      const Forecast one = forecast(s);
      s.data_parallel.zero = 2;
      s.data_parallel.sum_once = true;
      const Forecast two = forecast(s);
      EXPECT_EQ(two.step, one.step) << overlap << pipeline;
      EXPECT_EQ(two.stages[0].memory.gradients, one.stages[0].memory.gradients);
    }
}

TEST(SumOnce, OfZero3GathersParametersForEachMicroBatchAndSumsInTheLast) {
  Scenario s = data_parallel(16, 3);
  s.parallelism = {.tensor = 1, .pipeline = 4, .data = 4};
  s.data_parallel.sum_once = true;
  const Forecast f = forecast(s, {.unfold = false, .trace = true});
  const auto of_stage_1 = [&](std::string_view name) {
    return std::ranges::count_if(f.spans,
                                 [&](const Span& span) { return span.stage == 1 && span.name.starts_with(name); });
  };
  const std::int64_t micro_batches = 16, layers = 4;
  EXPECT_EQ(of_stage_1("gradients"), layers);
  EXPECT_EQ(of_stage_1("parameters"), 2 * micro_batches * layers);
  s.data_parallel.sum_once = false;
  const MemoryUse each = forecast(s).stages[1].memory;
  EXPECT_NEAR(static_cast<double>(f.stages[1].memory.gradients.value), 4 * static_cast<double>(each.gradients.value),
              4);
  EXPECT_EQ(f.stages[1].memory.parameters, each.parameters);
}

TEST(SumOnce, ChangesNothingWhereThereIsOneMicroBatch) {
  for (const int zero : {2, 3}) {
    Scenario s = data_parallel(16, zero);
    s.training.global_batch = 16 * s.training.micro_batch;
    const Forecast each = forecast(s);
    s.data_parallel.sum_once = true;
    const Forecast once = forecast(s);
    EXPECT_EQ(each.step, once.step) << zero;
    EXPECT_EQ(each.stages[0].memory.gradients, once.stages[0].memory.gradients) << zero;
  }
}

TEST(SumOnce, IsTheSoftwaresUnlessTheScenarioSays) {
  Scenario s = data_parallel(16, 2);
  EXPECT_TRUE(sums_each_micro_batch(s));
  s.software.sum_once = SumOnce::in_pipelines;
  EXPECT_TRUE(sums_each_micro_batch(s));
  s.parallelism = {.tensor = 1, .pipeline = 4, .data = 4};
  EXPECT_FALSE(sums_each_micro_batch(s));
  s.data_parallel.sum_once = false;
  EXPECT_TRUE(sums_each_micro_batch(s));
  s.software.sum_once = SumOnce::yes;
  s.data_parallel.sum_once.reset();
  s.parallelism = {.tensor = 1, .pipeline = 1, .data = 16};
  EXPECT_FALSE(sums_each_micro_batch(s));
  s.training.global_batch = s.training.micro_batch * s.parallelism.data;
  EXPECT_TRUE(sums_each_micro_batch(s));  // there is one
  s.data_parallel.zero = 1;
  EXPECT_FALSE(sums_each_micro_batch(s));
}

TEST(DataParallelPlan, SaysWhatDoesNotGoTogether) {
  const auto problem = [](const Scenario& s) {
    const std::vector<Problem> problems = check(s);
    return problems.size() == 1 ? problems[0].key + ": " + problems[0].text : std::to_string(problems.size());
  };
  Scenario s = data_parallel(32, 0);
  s.data_parallel.shard_group = 8;
  EXPECT_EQ(problem(s), "data_parallel.shard_group: data_parallel.zero 0 shards nothing; expected zero 1, 2 or 3");
  s.data_parallel.zero = 3;
  s.data_parallel.shard_group = 5;
  EXPECT_EQ(problem(s), "data_parallel.shard_group: shard_group 5 does not divide parallelism.data 32");
  s.training.attention = Attention::flash;
  s.parallelism.context = 2;
  s.cluster.gpus = 64;
  s.data_parallel.shard_group = 3;
  EXPECT_EQ(problem(s),
            "data_parallel.shard_group: shard_group 3 does not divide parallelism.data 32 times parallelism.context 2");
  s.data_parallel.shard_group = 64;
  EXPECT_EQ(problem(s), "0");
  s = data_parallel(32, 1);
  s.data_parallel.mode = DataParallelMode::parameter_server;
  EXPECT_EQ(problem(s),
            "data_parallel.mode: a parameter server holds the whole optimizer state; expected zero 0, found 1");
  s = data_parallel(32, 2);
  s.cluster.node.host_memory = Bytes{1LL << 50};
  s.offload.optimizer = Tier::host;
  s.data_parallel.sum_once = true;
  EXPECT_EQ(problem(s),
            "data_parallel.sum_once: gradients leave the GPU after each micro-batch where the optimizer is off it; "
            "expected false");
}

}  // namespace
}  // namespace stepcast::schedules
