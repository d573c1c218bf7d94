#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "models/layers/blocks.h"
#include "models/layers/model_blocks.h"
#include "models/layers/stack_sizes.h"
#include "schedules/checks/check.h"
#include "schedules/forecast.h"
#include "schedules/parallel/inner_groups.h"
#include "schedules/pass_times/layer_traffic.h"
#include "tests/schedules/saved.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

using collectives::Operation;

std::uint32_t ranks(const TensorGrid& g) { return g.rows * g.columns * g.depth; }

Scenario on(const TensorGrid& g, Family family = Family::gpt) {
  Scenario s = round_numbers(ranks(g));
  s.model = {"small", family, 3, 1536, 24, 24, 6144, 51840, ""};
  if (family == Family::llama) s.model.kv_heads = 12;
  s.training.micro_batch = s.training.global_batch = 4;
  s.training.sequence = 256;
  s.parallelism.tensor = ranks(g);
  s.parallelism.tensor_grid = g;
  return s;
}

constexpr TensorGrid kGrids[] = {{2, 1, 1}, {2, 2, 1}, {4, 2, 1}, {6, 4, 1}, {1, 2, 2}, {2, 3, 4}, {2, 2, 4}};

bool of_attention(const Gemm& gemm) {
  return gemm.kind == OperatorKind::attention_scores || gemm.kind == OperatorKind::attention_values;
}

struct Multiplied {
  double linear = 0, attention = 0;
};
Multiplied flops(const Kernels& pass) {
  Multiplied all;
  for (const Kernel& op : pass)
    if (const auto* gemm = std::get_if<Gemm>(&op))
      (of_attention(*gemm) ? all.attention : all.linear) += gemm->shape.flops().value;
  return all;
}

// What each rank multiplies; attention is by heads, which the columns share and every row repeats.
TEST(TensorGrid, TheRanksMultipliesTogetherAreTheWholeModels) {
  for (const Family family : {Family::gpt, Family::llama})
    for (const TensorGrid& g : kGrids) {
      ASSERT_TRUE(check(on(g, family)).empty()) << check(on(g, family)).front().text;
      const Blocks split = blocks(on(g, family)), whole = blocks(on({}, family));
      for (std::size_t kind = 0; kind < whole.kinds.size(); ++kind)
        for (const auto& pass : {&Block::forward, &Block::backward}) {
          const Multiplied one = flops(whole.kinds[kind].*pass), rank = flops(split.kinds[kind].*pass);
          EXPECT_EQ(ranks(g) * rank.linear, one.linear);
          EXPECT_EQ(ranks(g) * rank.attention, g.rows * one.attention);
        }
    }
}

// Each element of a weight is on one rank; what is one vector is repeated where it is not shared.
TEST(TensorGrid, TheRanksWeightsTogetherAreTheWholeModels) {
  for (const TensorGrid& g : kGrids) {
    const Blocks split = blocks(on(g)), whole = blocks(on({}));
    const double depth = g.depth, h = 1536, f = 6144;
    // Matrices; biases of what is split over the columns; two norms and the biases of hidden width.
    EXPECT_EQ(ranks(g) * split.kinds[1].parameters,
              4 * h * h + 2 * h * f + (3 * h + f) * g.rows * depth + 6 * h * g.columns * depth);
    const double words = 51840.0 * 1536, positions = 256.0 * 1536, norm = 2 * 1536.0;
    EXPECT_EQ(whole.kinds[0].parameters, words + positions);
    EXPECT_EQ(ranks(g) * split.kinds[0].parameters, words + positions * g.columns * depth);
    EXPECT_EQ(ranks(g) * split.kinds[2].parameters, words + norm * g.columns * depth);
  }
}

bool of_norm(const TensorCollective& c) {
  return c.kind == OperatorKind::layer_norm || c.kind == OperatorKind::rms_norm;
}

/// Bytes that one rank sends, as rings do, without the norms' statistics.
double sent(const Kernels& pass, const TensorGrid& g) {
  double bytes = 0;
  for (const Kernel& op : pass)
    if (const auto* c = std::get_if<TensorCollective>(&op); c != nullptr && !of_norm(*c)) {
      const double p = c->among == Among::tensor ? g.columns : c->among == Among::tensor_column ? g.rows : g.depth;
      bytes += (c->operation == Operation::all_reduce ? 2 : 1) * (p - 1) / p * static_cast<double>(c->bytes.value);
    }
  return bytes;
}

double sent_by_a_layer(const TensorGrid& g) {
  const Blocks all = blocks(on(g));
  return sent(all.kinds[1].forward, g) + sent(all.kinds[1].backward, g);
}

// Singh et al. 2023 (arXiv 2305.13525): an output is summed over the ranks that share the inputs, an input's gradient
// over those that share the outputs; of a GPT layer 8 m h / G ((G_c - 1) + 3 (G_r - 1)) elements a rank. Each weight is
// gathered over the depth forward and backward and its gradient scattered: 3 x 12 h^2 (G_d - 1) / G.
TEST(TensorGrid, VolumesAreAgarwalsThreeDimensionalMultiply) {
  const double m = 4 * 256, h = 1536, e = 2;
  for (const TensorGrid& g : kGrids) {
    const double r = g.rows, c = g.columns, d = g.depth, all = r * c * d;
    const double expected = 8 * m * h / all * ((c - 1) + 3 * (r - 1)) + 3 * 12 * h * h * (d - 1) / all;
    EXPECT_NEAR(sent_by_a_layer(g), e * expected, 1e-6 * e * expected);
  }
}

TEST(TensorGrid, LeastIsSentByAboutTheRootOfThreeTimesTheRanksColumns) {
  constexpr std::uint32_t kRanks = 12;  // sqrt(3 x 12) = 6
  std::uint32_t best = 0;
  double least = 0;
  for (const std::uint32_t columns : {1u, 2u, 3u, 4u, 6u, 12u}) {
    const double bytes = sent_by_a_layer({kRanks / columns, columns, 1});
    if (best == 0 || bytes < least) least = bytes, best = columns;
  }
  EXPECT_EQ(best, 6u);
}

TEST(TensorGrid, NormsSumTheirStatisticsOverTheRows) {
  for (const Family family : {Family::gpt, Family::llama}) {
    int norms = 0;
    const Blocks all = blocks(on({2, 2, 2}, family));
    for (const Kernels* pass : {&all.kinds[1].forward, &all.kinds[1].backward})
      for (const Kernel& op : *pass)
        if (const auto* c = std::get_if<TensorCollective>(&op); c != nullptr && of_norm(*c)) {
          EXPECT_EQ(c->among, Among::tensor_column);
          EXPECT_EQ(c->bytes.value, 4 / 2 * 256 * 4 * (family == Family::gpt ? 2 : 1));
          ++norms;
        }
    EXPECT_EQ(norms, 4);
  }
}

// Korthikanti et al.'s (2022, eq. 2) 10 + 24/t + 5as/ht in s b h: what megatron leaves whole, the rows share.
TEST(TensorGrid, SavedActivationsAreSharedByRowsColumnsAndDepth) {
  for (const TensorGrid& g : kGrids) {
    const Scenario s = on(g);
    const double sbh = 256.0 * 4 / g.depth * 1536, scores = 5.0 * 24 * 256 / 1536;
    EXPECT_DOUBLE_EQ(saved_activation_bytes(s, stack_sizes(s, 256, true), Recompute::none),
                     sbh * (10.0 / g.rows + 24.0 / g.columns + scores / g.columns));
  }
}

TEST(TensorGrid, OneRowIsOneDimensionToThePicosecond) {
  const std::vector<std::function<void(Scenario&)>> plans = {[](Scenario&) {},
                                                             [](Scenario& s) { s.parallelism.sequence = true; },
                                                             [](Scenario& s) {
                                                               s.software.scatter_gather = true;
                                                               s.software.tensor_overlap = TensorOverlap::backward;
                                                               s.recompute = Recompute::full;
                                                               s.data_parallel.zero = 1;
                                                             }};
  for (const auto& plan : plans) {
    Scenario s = round_numbers(32);
    s.parallelism = {.tensor = 4, .pipeline = 2, .data = 4};
    plan(s);
    const Forecast one = forecast(s);
    s.parallelism.tensor_grid = TensorGrid{1, 4, 1};
    const Forecast grid = forecast(s);
    EXPECT_EQ(one.step, grid.step);
    for (std::size_t stage = 0; stage < one.stages.size(); ++stage)
      EXPECT_EQ(one.stages[stage].memory.peak(), grid.stages[stage].memory.peak());
  }
}

using Numbers = std::vector<std::vector<std::uint32_t>>;
Numbers numbers(const std::vector<collectives::Group>& groups) {
  Numbers out;
  for (const collectives::Group& group : groups) {
    auto& of_group = out.emplace_back();
    for (const topology::GpuId g : group) of_group.push_back(topology::index(g));
  }
  return out;
}

TEST(TensorGrid, GroupsAreItsRowsColumnsAndDepths) {
  Parallelism plan{.tensor = 8, .pipeline = 1, .data = 2};
  plan.tensor_grid = TensorGrid{2, 2, 2};
  const Ranks placed(plan, 16);
  EXPECT_EQ(numbers(grid_rows_beside(placed, {0, 0, 0})),
            (Numbers{{0, 1}, {2, 3}, {4, 5}, {6, 7}, {8, 9}, {10, 11}, {12, 13}, {14, 15}}));
  EXPECT_EQ(numbers(grid_columns_beside(placed, {0, 0, 0})),
            (Numbers{{0, 2}, {1, 3}, {4, 6}, {5, 7}, {8, 10}, {9, 11}, {12, 14}, {13, 15}}));
  EXPECT_EQ(numbers(grid_depths_beside(placed, {0, 0, 0})),
            (Numbers{{0, 4}, {1, 5}, {2, 6}, {3, 7}, {8, 12}, {9, 13}, {10, 14}, {11, 15}}));
  EXPECT_EQ(numbers(grid_columns_beside(placed, {5, 1, 0}))[0], (std::vector<std::uint32_t>{13, 15}));
  EXPECT_EQ(numbers(grid_depths_beside(Ranks(plan, 4), {3, 0, 0})), (Numbers{{3, 7}, {0, 4}, {1, 5}, {2, 6}}));
}

// Two nodes of 8: rows are inside a node, columns between the two, each over links of its own.
TEST(TensorGrid, TrafficTakesTheLinksOfItsOwnGroups) {
  const Scenario s = on({2, 8, 1});
  const topology::Cluster cluster = topology::build_cluster(s.cluster.node, s.cluster.fabric, s.cluster.gpus);
  const Ranks placed(s.parallelism, cluster.gpus_per_node());
  const LayerTraffic traffic(s, placed, {});
  collectives::Timer timer(cluster, s.software.transport);
  std::vector<collectives::Group> rows(2), columns(8);
  for (std::uint32_t g = 0; g < 16; ++g) {
    rows[g / 8].push_back(topology::GpuId{g});
    columns[g % 8].push_back(topology::GpuId{g});
  }
  const Bytes size{64 << 20};
  const Time in_row = traffic.time({{}, Operation::all_reduce, size, false, Among::tensor}, timer, true)->duration;
  const Time in_column =
      traffic.time({{}, Operation::all_reduce, size, false, Among::tensor_column}, timer, true)->duration;
  EXPECT_EQ(in_row, timer.time(Operation::all_reduce, size, rows).duration);
  EXPECT_EQ(in_column, timer.time(Operation::all_reduce, size, columns).duration);
  EXPECT_GT(in_column, in_row);  // 20 GB/s between nodes, 200 GB/s inside
}

TEST(TensorGrid, WhatDoesNotGoTogetherIsNamed) {
  Scenario s = on({2, 2, 1});
  s.parallelism.tensor_grid = TensorGrid{2, 3, 1};
  ASSERT_EQ(check(s).size(), 1u);
  EXPECT_EQ(check(s).front().key, "parallelism.tensor_grid");
  EXPECT_EQ(check(s).front().text, "2 x 3 is 6 ranks, expected those of parallelism.tensor, 4");
  s = on({2, 1, 2});
  s.training.micro_batch = s.training.global_batch = 3;
  ASSERT_EQ(check(s).size(), 1u);
  EXPECT_EQ(check(s).front().text, "a depth of 2 does not divide training.micro_batch 3");
  s = on({2, 2, 1});
  s.parallelism.sequence = true;
  ASSERT_EQ(check(s).size(), 1u);
  EXPECT_EQ(check(s).front().text,
            "2 x 2 with parallelism.sequence is not built; expected one row, or no sequence parallelism");
  for (const Precision low : {Precision::fp8, Precision::nvfp4}) {
    s = on({2, 2, 1});
    s.training.precision = low;
    s.cluster.gpu.peak[low] = {1e15};
    ASSERT_EQ(check(s).size(), 1u);
    EXPECT_EQ(check(s).front().text, "2 x 2 with fp8, mxfp8 or nvfp4 is not built");
  }
}

}  // namespace
}  // namespace stepcast::schedules
