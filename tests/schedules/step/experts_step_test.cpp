// Steps of models with experts and of shared sequences, against the collectives timed alone.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "schedules/checks/check.h"
#include "schedules/data_parallel/groups.h"
#include "schedules/forecast.h"
#include "schedules/parallel/expert_nodes.h"
#include "schedules/parallel/inner_groups.h"
#include "schedules/pass_times/layer_traffic.h"
#include "tests/models/models.h"
#include "tests/schedules/scenarios.h"
#include "tests/schedules/timed_alone.h"

namespace stepcast::schedules {
namespace {

using collectives::Operation;

Scenario experts_on(std::uint32_t gpus, std::uint32_t expert) {
  Scenario s = round_numbers(gpus);
  s.model = small_experts();
  s.training.attention = Attention::flash;
  s.parallelism = {.tensor = 1, .pipeline = 1, .data = gpus, .expert = expert};
  s.data_parallel.overlap = false;
  return s;
}

double bytes_leaving(const collectives::Timing& timing, const topology::Cluster& cluster, const std::string& gpu) {
  double bytes = 0;
  for (const auto& load : timing.loads)
    if (cluster.link(load.link).from == gpu) bytes += load.bytes;
  return bytes;
}

TEST(ExpertTraffic, LeavesARankForAllOthersOfItsGroup) {
  for (const std::uint32_t expert : {2u, 4u, 8u}) {
    const Scenario s = experts_on(8, expert);
    Alone alone(s);
    const LayerTraffic traffic(s, alone.ranks, {});
    const double bytes = 1024 * 4 * 1024 * 2;  // tokens x top-k x hidden
    const TensorCollective dispatch{
        {}, Operation::all_to_all, {static_cast<std::int64_t>(bytes)}, false, Among::dispatch};
    const collectives::Timing timing = *traffic.time(dispatch, alone.timer, false);
    EXPECT_NEAR(bytes_leaving(timing, alone.cluster, "node 0 / gpu 0"), bytes * (expert - 1) / expert, 64) << expert;
  }
}

/// Bytes on links of a kind out of what node 0 is made of.
double sent_by_node(const collectives::Timing& timing, const topology::Cluster& cluster, topology::LinkKind kind) {
  double bytes = 0;
  for (const auto& load : timing.loads) {
    const topology::Link link = cluster.link(load.link);
    if (link.kind == kind && link.from.starts_with("node 0 / ")) bytes += load.bytes;
  }
  return bytes;
}

// Megatron-Core's --overlap-moe-expert-parallel-comm: a slow network is waited for in interleaved 1F1B, and is hidden
// under the pair's other pass as far as that is as long.
TEST(ExpertTraffic, HidesBesideThePairsOtherPass) {
  const auto step = [](const char* schedule, double rate) {
    Scenario s = experts_on(32, 8);
    s.parallelism.pipeline = 2;
    s.parallelism.data = 16;
    s.parallelism.order = {Dimension::tensor, Dimension::context, Dimension::pipeline, Dimension::data};
    s.training.global_batch = 16 * 16;
    s.pipeline.schedule = schedule;
    s.pipeline.virtual_stages = 2;
    s.cluster.node.nic->bandwidth = {rate};
    return to_seconds(forecast(s).step);
  };
  const double fast = 1e12, slow = 10e9;
  EXPECT_GT(step("interleaved-1f1b", slow) - step("interleaved-1f1b", fast), 0);
  EXPECT_LT(step("combined-1f1b", slow) - step("combined-1f1b", fast),
            0.6 * (step("interleaved-1f1b", slow) - step("interleaved-1f1b", fast)));
  EXPECT_LT(step("combined-1f1b", fast), step("interleaved-1f1b", fast));
}

// Of n tokens each on 8 ranks of a node, D copies of each to as many of 4 nodes, of which one is its own; inside, top-k
// of each token that a node gets, of which one in 8 is for the rank that has it.
TEST(ExpertTraffic, CrossesToANodeOnceAndIsForwardedThere) {
  Scenario s = experts_on(32, 32);
  const double bytes = 1024 * 4 * 1024 * 2;  // tokens x top-k x hidden
  const TensorCollective dispatch{
      {}, Operation::all_to_all, {static_cast<std::int64_t>(bytes)}, false, Among::dispatch};
  Alone alone(s);
  const auto timed = [&](std::optional<std::uint32_t> limit) {
    s.training.expert_load.node_limit = limit;
    return *LayerTraffic(s, alone.ranks, {}).time(dispatch, alone.timer, true);
  };
  const collectives::Timing each = timed({});
  EXPECT_NEAR(sent_by_node(each, alone.cluster, topology::LinkKind::network), 8 * bytes * 24 / 32, 1e4);
  Time before = each.duration;
  for (const std::uint32_t limit : {4u, 2u, 1u}) {
    const collectives::Timing nodes = timed(limit);
    const double copies = expected_nodes(4, 8, 4, limit);
    EXPECT_LE(copies, limit);
    EXPECT_NEAR(sent_by_node(nodes, alone.cluster, topology::LinkKind::network), 8 * bytes / 4 * copies * 3 / 4, 1e4);
    EXPECT_NEAR(bytes_leaving(nodes, alone.cluster, "node 0 / gpu 0") -
                    sent_by_node(nodes, alone.cluster, topology::LinkKind::network) / 8,
                bytes * 7 / 8, 1e4);
    EXPECT_LT(nodes.duration, before) << limit;
    before = nodes.duration;
  }
}

TEST(ExpertTraffic, OfOneNodeKnowsNoLimit) {
  Scenario s = experts_on(8, 8);
  const TensorCollective dispatch{{}, Operation::all_to_all, {1 << 23}, false, Among::dispatch};
  Alone alone(s);
  const Time free = LayerTraffic(s, alone.ranks, {}).time(dispatch, alone.timer, true)->duration;
  s.training.expert_load.node_limit = 1;
  EXPECT_EQ(LayerTraffic(s, alone.ranks, {}).time(dispatch, alone.timer, true)->duration, free);
}

TEST(ExpertTraffic, GoesByNodeWithoutALimitWhereTheSoftwareSendsItSo) {
  Scenario s = experts_on(32, 32);
  const TensorCollective dispatch{{}, Operation::all_to_all, {1 << 23}, false, Among::dispatch};
  Alone alone(s);
  const auto time = [&] { return LayerTraffic(s, alone.ranks, {}).time(dispatch, alone.timer, true)->duration; };
  const Time one_by_one = time();
  s.training.expert_load.node_limit = 4;  // all nodes
  const Time by_node = time();
  EXPECT_LT(by_node, one_by_one);
  s.training.expert_load.node_limit = {};
  s.software.copies_by_node = true;
  EXPECT_EQ(time(), by_node);
  s.training.expert_load.node_limit = 2;  // a router's own limit counts
  EXPECT_LT(time(), by_node);
  s.training.expert_load = {.spread = 0.5};
  const Time uneven = time();
  s.software.copies_by_node = false;
  EXPECT_EQ(time(), uneven) << "not built";
}

TEST(ExpertTraffic, WhatANodeLimitContradictsIsTold) {
  Scenario s = experts_on(32, 32);
  s.training.expert_load.node_limit = 1;
  EXPECT_TRUE(check(s).empty());
  const auto only = [](const Scenario& wrong) {
    const std::vector<Problem> problems = check(wrong);
    return problems.size() == 1 && problems[0].key == "training.experts.node_limit" ? problems[0].text : "";
  };
  s.model.experts.active = 9;
  EXPECT_EQ(only(s), "1 nodes of 8 experts are fewer than the 9 of model.experts.active");
  s.training.expert_load.node_limit = 2;
  EXPECT_TRUE(check(s).empty());
  s.training.expert_load.spread = 0.5;
  EXPECT_EQ(only(s), "with spread is not built; experts get their even share, dropless");
  s.training.expert_load = {.capacity = 1.25, .node_limit = 2};
  EXPECT_EQ(only(s), "with capacity is not built; experts get their even share, dropless");
  s = experts_on(24, 12);
  s.model.experts.count = 24;
  s.training.global_batch = 24;
  s.training.expert_load.node_limit = 2;
  EXPECT_EQ(only(s), "expert 12 has not as many ranks on each of its 2 nodes");
}

TEST(ExpertTraffic, GoesToTheBusiestRankMost) {
  Scenario s = experts_on(8, 8);
  const TensorCollective dispatch{{}, Operation::all_to_all, {1 << 23}, false, Among::dispatch};
  Alone alone(s);
  const Time even = LayerTraffic(s, alone.ranks, {}).time(dispatch, alone.timer, true)->duration;
  s.training.expert_load.spread = 1;
  EXPECT_GT(LayerTraffic(s, alone.ranks, {}).time(dispatch, alone.timer, true)->duration, even);
}

TEST(ExpertStep, SumsGradientsOfExpertsAmongTheRanksThatHoldThem) {
  const Scenario s = experts_on(32, 8);
  const Forecast f = forecast(s);
  Alone alone(s);
  const double experts = 16 * 32 / 8 * 3 * 1024.0 * 1024;
  const double all = f.parameters - (16 * 32 * 3 * 1024.0 * 1024 - experts);
  const auto bytes = [](double parameters) { return Bytes{static_cast<std::int64_t>(4 * parameters)}; };
  const std::vector<collectives::Group> everyone{alone.ranks.data_group(0, 0)};
  const Time rest = alone.timer.time(Operation::all_reduce, bytes(all - experts), everyone).duration;
  const Time own =
      alone.timer.time(Operation::all_reduce, bytes(experts), expert_copies_of_stage(alone.ranks, {})).duration;
  EXPECT_EQ(f.stages[0].time.exposed_data, rest + own);
}

TEST(ExpertStep, ExpertsOfAllRanksNeedNoSum) {
  // Every rank of the stage holds experts of its own: only the rest is summed.
  const Scenario s = experts_on(32, 32);
  const Forecast f = forecast(s);
  Alone alone(s);
  const double rest = f.parameters - 16 * 32 * 3 * 1024.0 * 1024;
  const std::vector<collectives::Group> everyone{alone.ranks.data_group(0, 0)};
  EXPECT_EQ(f.stages[0].time.exposed_data,
            alone.timer.time(Operation::all_reduce, {static_cast<std::int64_t>(4 * rest)}, everyone).duration);
}

TEST(ExpertStep, ZeroSharesExpertsAmongTheRanksThatHoldThem) {
  Scenario s = experts_on(32, 8);
  const Forecast plain = forecast(s);
  s.data_parallel.zero = 1;
  const Forecast shared = forecast(s);
  const double experts = 16 * 32 / 8 * 3 * 1024.0 * 1024;
  const double rest = plain.parameters - 16 * 32 * 3 * 1024.0 * 1024;
  EXPECT_EQ(plain.stages[0].memory.optimizer.value, static_cast<std::int64_t>(12 * (rest + experts)));
  EXPECT_EQ(shared.stages[0].memory.optimizer.value, static_cast<std::int64_t>(12 * (rest / 32 + experts / 4)));
  EXPECT_EQ(plain.stages[0].memory.parameters.value, static_cast<std::int64_t>(2 * (rest + experts)));
}

TEST(ExpertStep, UnevenLoadsCostTime) {
  Scenario s = experts_on(16, 16);
  Time before = forecast(s).step;
  for (const double spread : {0.2, 0.5, 1.0}) {
    s.training.expert_load.spread = spread;
    const Time step = forecast(s).step;
    EXPECT_GT(step, before) << spread;
    before = step;
  }
}

TEST(ContextStep, SumsGradientsOverDataAndContext) {
  Scenario s = round_numbers(32);
  s.training.attention = Attention::flash;
  s.data_parallel.overlap = false;
  s.parallelism = {.tensor = 1, .pipeline = 1, .data = 8, .context = 4};
  const Forecast f = forecast(s);
  Alone alone(s);
  std::vector<collectives::Group> everyone(1);
  for (std::uint32_t rank = 0; rank < 32; ++rank) everyone[0].push_back(topology::GpuId{rank});
  EXPECT_EQ(f.stages[0].time.exposed_data,
            alone.timer.time(Operation::all_reduce, {static_cast<std::int64_t>(4 * f.parameters)}, everyone).duration);
  s.data_parallel.zero = 1;
  EXPECT_EQ(forecast(s).stages[0].memory.optimizer.value, static_cast<std::int64_t>(12 * f.parameters / 32));
}

TEST(ContextStep, OverLinksThatCostNothingEveryMethodComputesAsLong) {
  std::map<ContextMethod, Time> compute;
  for (const ContextMethod method : {ContextMethod::ring, ContextMethod::all_gather, ContextMethod::ulysses}) {
    Scenario s = round_numbers(8);
    s.training.attention = Attention::flash;
    s.training.sequence = 16384;
    s.cluster.gpu.attention_tile = 1;
    s.parallelism = {.tensor = 1, .pipeline = 1, .data = 1, .context = 8, .context_method = method};
    s.software.transport = {};
    (*s.cluster.node.nvlink).bandwidth = {1e30};
    (*s.cluster.node.nvlink).latency = {};
    const Forecast f = forecast(s);
    EXPECT_LT(f.stages[0].time.exposed_tensor, microseconds(1));
    compute[method] = f.stages[0].time.compute;
  }
  EXPECT_NEAR(compute[ContextMethod::ring] / compute[ContextMethod::ulysses], 1, 0.002);
  EXPECT_NEAR(compute[ContextMethod::all_gather] / compute[ContextMethod::ulysses], 1, 0.002);
}

TEST(ContextStep, RingHidesUnderLongSequencesOnly) {
  const auto exposed = [](std::int64_t sequence) {
    Scenario s = round_numbers(8);
    s.training.attention = Attention::flash;
    s.training.sequence = sequence;
    s.parallelism = {.tensor = 1, .pipeline = 1, .data = 1, .context = 8};
    const Forecast f = forecast(s);
    return f.stages[0].time.exposed_tensor / f.step;
  };
  // Keys and values grow with the sequence, attention with its square.
  EXPECT_LT(exposed(1 << 17), exposed(1 << 13) / 4);
}

}  // namespace
}  // namespace stepcast::schedules
