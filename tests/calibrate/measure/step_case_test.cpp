#include "calibrate/measure/host/step_case.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace stepcast::measure {
namespace {

constexpr std::int64_t kH200 = std::int64_t{140} << 30;

TEST(StepCase, OneForwardOneBackwardHoldsAtMostWhatIsLeftOfThePipeline) {
  for (int stages = 1; stages <= 8; ++stages) {
    for (int micro_batches = 1; micro_batches <= 16; ++micro_batches) {
      StepCase step;
      step.pipeline = stages;
      step.micro_batches = micro_batches;
      for (int stage = 0; stage < stages; ++stage) {
        int forward = 0, backward = 0, most = 0;
        for (const StepPass& pass : one_f_one_b(step, stage)) {
          EXPECT_EQ(pass.micro_batch, pass.forward ? forward : backward);
          ++(pass.forward ? forward : backward);
          EXPECT_LE(backward, forward);
          most = std::max(most, forward - backward);
        }
        EXPECT_EQ(forward, micro_batches);
        EXPECT_EQ(backward, micro_batches);
        EXPECT_LE(most, stages - stage);
      }
    }
  }
}

/// Each exchange ends when all its messages have met their other halves, as NCCL's groups do.
TEST(StepCase, StagesNeverWaitForOneAnother) {
  for (int stages = 1; stages <= 8; ++stages) {
    for (int micro_batches = 1; micro_batches <= 16; ++micro_batches) {
      StepCase step;
      step.pipeline = stages;
      step.micro_batches = micro_batches;
      std::vector<std::vector<StepExchange>> all;
      for (int stage = 0; stage < stages; ++stage) {
        all.push_back(step_exchanges(step, stage));
        EXPECT_EQ(all.back().size(), one_f_one_b(step, stage).size() + 1);
      }
      std::vector<std::size_t> at(all.size(), 0);
      const auto now = [&](int stage) {
        const auto s = static_cast<std::size_t>(stage);
        return stage >= 0 && stage < stages && at[s] < all[s].size() ? all[s][at[s]] : StepExchange{};
      };
      for (bool moved = true; moved;) {  // messages meet: they are taken out of both exchanges
        moved = false;
        for (int stage = 0; stage < stages; ++stage) {
          const auto s = static_cast<std::size_t>(stage);
          if (at[s] == all[s].size()) continue;
          const StepExchange mine = now(stage), next = now(stage + 1);
          if (mine.send_activation >= 0 && mine.send_activation == next.receive_activation) {
            all[s][at[s]].send_activation = all[s + 1][at[s + 1]].receive_activation = -1;
            moved = true;
          }
          if (mine.receive_gradient >= 0 && mine.receive_gradient == next.send_gradient) {
            all[s][at[s]].receive_gradient = all[s + 1][at[s + 1]].send_gradient = -1;
            moved = true;
          }
          const StepExchange left = now(stage);
          if (left.send_activation < 0 && left.receive_activation < 0 && left.send_gradient < 0 &&
              left.receive_gradient < 0) {
            ++at[s];
            moved = true;
          }
        }
      }
      for (int stage = 0; stage < stages; ++stage)
        EXPECT_EQ(at[static_cast<std::size_t>(stage)], all[static_cast<std::size_t>(stage)].size())
            << stages << " stages, " << micro_batches << " micro-batches";
    }
  }
}

TEST(StepCase, RanksCountTensorFirstThenDataThenStages) {
  StepCase step;
  step.tensor = 2, step.data = 3, step.pipeline = 4;
  std::set<std::vector<int>> seen;
  for (int rank = 0; rank < step.gpus(); ++rank) {
    const StepRank at = step_rank(step, rank);
    EXPECT_EQ(at.tensor + step.tensor * (at.data + step.data * at.stage), rank);
    EXPECT_TRUE(seen.insert({at.tensor, at.data, at.stage}).second);
  }
}

TEST(StepCase, ParametersAreGpts) {
  StepCase gpt3_xl;  // Brown et al. 2020, table 2.1: 1.3 billion
  gpt3_xl.layers = 24, gpt3_xl.hidden = 2048, gpt3_xl.vocab = 50257, gpt3_xl.sequence = 2048;
  EXPECT_NEAR(static_cast<double>(parameters(gpt3_xl)), 1.3e9, 0.02e9);
}

TEST(StepPlan, OneGpuHasTwentyFourAndMore) {
  const auto plan = step_plan(1, kH200, false);
  EXPECT_GE(plan.size(), 24u);
  std::set<std::string> names;
  for (const StepCase& step : plan) {
    EXPECT_EQ(fault(step), "");
    EXPECT_EQ(step.gpus(), 1);
    EXPECT_TRUE(names.insert(step_name(step)).second) << step_name(step);
  }
  for (const StepRecompute recompute : {StepRecompute::none, StepRecompute::selective, StepRecompute::full})
    EXPECT_TRUE(std::any_of(plan.begin(), plan.end(), [&](const StepCase& s) { return s.recompute == recompute; }));
  EXPECT_TRUE(std::any_of(plan.begin(), plan.end(), [](const StepCase& s) { return s.offload; }));
  EXPECT_TRUE(std::any_of(plan.begin(), plan.end(), [](const StepCase& s) { return s.micro_batches > 1; }));
}

TEST(StepPlan, ATimeLimitCutsTheLeastValuable) {
  const auto plan = step_plan(8, kH200, false);
  const auto first = [&](auto&& is) { return std::find_if(plan.begin(), plan.end(), is) - plan.begin(); };
  std::set<std::vector<int>> splits;
  const auto plain = first([&](const StepCase& s) {
    splits.insert({s.data, s.tensor, s.pipeline, s.hidden});
    return s.recompute != StepRecompute::none;
  });
  for (const StepCase& s : plan) EXPECT_EQ(splits.count({s.data, s.tensor, s.pipeline, s.hidden}), 1u) << step_name(s);
  const auto recomputed = first([](const StepCase& s) { return s.recompute == StepRecompute::selective; });
  const auto offloaded = first([](const StepCase& s) { return s.offload; });
  EXPECT_LE(plain, recomputed);
  EXPECT_LT(recomputed, offloaded);
}

TEST(StepPlan, EightGpusTakeEverySplit) {
  std::set<std::vector<int>> splits, expected;
  for (const StepCase& s : step_plan(8, kH200, false)) splits.insert({s.data, s.tensor, s.pipeline});
  for (const int t : {1, 2, 4, 8}) {
    for (const int p : {1, 2, 4, 8}) {
      if (t * p <= 8) expected.insert({8 / t / p, t, p});
    }
  }
  EXPECT_EQ(splits, expected);
}

TEST(StepPlan, LessMemoryTakesLess) {
  EXPECT_LT(step_plan(1, std::int64_t{16} << 30, false).size(), step_plan(1, kH200, false).size());
  EXPECT_TRUE(step_plan(1, 1 << 30, false).empty());
  EXPECT_LE(step_plan(1, kH200, true).size(), 8u);
}

TEST(StepCase, FaultsAreNamed) {
  StepCase step{.layers = 4, .hidden = 512, .heads = 8, .vocab = 1024, .sequence = 128};
  EXPECT_EQ(fault(step), "");
  step.heads = 4, step.tensor = 3;
  EXPECT_EQ(fault(step), "heads over the tensor ranks");
  step.heads = 16;
  EXPECT_EQ(fault(step), "heads of 64 or 128");
}

TEST(StepTable, RowsHaveTheHeadersColumns) {
  const StepCase step{.layers = 4, .hidden = 512, .heads = 8, .vocab = 1024, .sequence = 128, .offload = true};
  StepResult result;
  result.step.median = 0.125;
  result.peak_bytes = 1 << 30;
  result.phases.layers_forward = 0.04;
  const auto header = step_table_columns();
  const auto cells = step_table_cells(step, result, "dgx-h200", "r1");
  ASSERT_EQ(cells.size(), header.size());
  const auto cell = [&](const char* column) {
    return cells[static_cast<std::size_t>(std::find(header.begin(), header.end(), column) - header.begin())];
  };
  EXPECT_EQ(cell("measured.step_time"), "0.125 s");
  EXPECT_EQ(cell("measured.peak_memory"), "1073741824 B");
  EXPECT_EQ(cell("measured.phases.layer_forward"), "0.01 s");
  EXPECT_EQ(cell("training.global_batch"), "1");
  EXPECT_EQ(cell("recompute"), "none");
}

TEST(StepTable, RecomputationIsNamedAsInScenarios) {
  StepCase step{.layers = 4, .hidden = 512, .heads = 8, .vocab = 1024, .sequence = 128};
  const auto header = step_table_columns();
  const auto at = static_cast<std::size_t>(std::find(header.begin(), header.end(), "recompute") - header.begin());
  EXPECT_EQ(step_name(step), "gpt-l4-h512-s128-mb1x1-d1t1p1");
  step.recompute = StepRecompute::selective;
  EXPECT_EQ(step_table_cells(step, {}, "", "").at(at), "selective");
  EXPECT_EQ(step_name(step), "gpt-l4-h512-s128-mb1x1-d1t1p1-selective");
  step.recompute = StepRecompute::full;
  EXPECT_EQ(step_table_cells(step, {}, "", "").at(at), "full");
  EXPECT_EQ(step_name(step), "gpt-l4-h512-s128-mb1x1-d1t1p1-full");
}

TEST(StepTable, NodesByTheDriversNameOfTheirGpus) {
  EXPECT_EQ(node_named("NVIDIA H200", 8), "dgx-h200");
  EXPECT_EQ(node_named("NVIDIA A100-SXM4-80GB", 8), "dgx-a100-80gb");
  EXPECT_EQ(node_named("Tesla V100-SXM2-16GB", 8), "dgx-1-v100-16gb");
  EXPECT_EQ(node_named("NVIDIA H100 80GB HBM3", 8), "dgx-h100");
  for (const char* other : {"NVIDIA GeForce RTX 4090", "NVIDIA GH200 480GB", "NVIDIA H200 NVL", "NVIDIA H100 NVL",
                            "NVIDIA H100 PCIe", "NVIDIA A100-PCIE-40GB"})
    EXPECT_EQ(node_named(other, 1), "") << other;
}

}  // namespace
}  // namespace stepcast::measure
