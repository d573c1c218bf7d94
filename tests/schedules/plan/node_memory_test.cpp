#include "schedules/plan/node_memory.h"

#include <gtest/gtest.h>

#include "schedules/checks/check.h"
#include "schedules/forecast.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

Scenario offloading(std::uint32_t gpus, OffloadPlan plan) {
  Scenario s = round_numbers(gpus);
  s.parallelism.data = gpus;
  s.offload = plan;
  return s;
}

/// The keys of the nearest change that makes it fit.
std::string first_advice(const Scenario& s) {
  const std::vector<Advice> all = forecast(s).out_of_memory.value().advice;
  std::string keys;
  if (all.empty()) return keys;
  for (const std::string& setting : all.front().settings) keys += (keys.empty() ? "" : " ") + setting;
  return keys;
}

TEST(NodeMemory, HoldsWhatItsGpusPutThereTogether) {
  const Forecast f = forecast(offloading(16, {.optimizer = Tier::host}));
  ASSERT_TRUE(f.host_memory);
  EXPECT_EQ(f.host_memory->used, f.stages.front().memory.host.sum() * 8);  // of a node of 8
  EXPECT_FALSE(f.host_memory->size);
  EXPECT_FALSE(f.drives);
  EXPECT_EQ(forecast(offloading(4, {.optimizer = Tier::host})).host_memory->used * 2, f.host_memory->used);
  EXPECT_FALSE(forecast(offloading(16, {})).host_memory);
}

// 2 tensor ranks of each of 4 stages in one node, or of 2 stages in each of two: the stages with the embedding and the
// head have more.
TEST(NodeMemory, StagesOfANodeAddUp) {
  Scenario s = offloading(8, {.optimizer = Tier::host, .activations = Tier::host});
  s.parallelism = {.tensor = 2, .pipeline = 4, .data = 1};
  const Forecast one = forecast(s);
  Bytes all{};
  for (const StageReport& stage : one.stages) all += stage.memory.host.sum() * 2;
  EXPECT_EQ(one.host_memory->used, all);
  s.cluster.node.gpus = 4;
  const Forecast two = forecast(s);
  const auto node = [&](std::size_t first) {
    return (two.stages[first].memory.host.sum() + two.stages[first + 1].memory.host.sum()) * 2;
  };
  EXPECT_NE(node(0), node(2));
  EXPECT_EQ(two.host_memory->used, std::max(node(0), node(2)));
}

TEST(NodeMemory, IsNamedWhereItDoesNotSuffice) {
  Scenario s = offloading(16, {.optimizer = Tier::host, .parameters = Tier::host});
  const Forecast f = forecast(s);
  s.cluster.node.host_memory = f.host_memory->used;
  EXPECT_FALSE(forecast(s).out_of_memory);
  EXPECT_EQ(forecast(s).host_memory->size, f.host_memory->used);
  s.cluster.node.host_memory = Bytes{f.host_memory->used.value - 1};
  const Forecast over = forecast(s);
  ASSERT_TRUE(over.out_of_memory);
  EXPECT_EQ(over.out_of_memory->memory, Tier::host);
  EXPECT_EQ(over.out_of_memory->needed, f.host_memory->used);
  EXPECT_EQ(over.out_of_memory->available, *s.cluster.node.host_memory);
  EXPECT_EQ(over.out_of_memory->largest, "optimizer state") << over.out_of_memory->largest;
  EXPECT_EQ(over.step, f.step);
  // Where the GPUs' own memory does not suffice either, that is said first.
  s.cluster.gpu.memory = {1 << 20};
  EXPECT_EQ(forecast(s).out_of_memory->memory, Tier::gpu);
}

TEST(NodeMemory, DrivesLikewise) {
  Scenario s = offloading(8, {.optimizer = Tier::nvme, .nvme_bandwidth = Bandwidth{25e9}});
  const Forecast f = forecast(s);
  ASSERT_TRUE(f.drives);
  EXPECT_EQ(f.drives->used, f.stages.front().memory.nvme.optimizer * 8);
  ASSERT_TRUE(f.host_memory);  // the gradients
  EXPECT_EQ(f.host_memory->used, f.stages.front().memory.host.gradients * 8);
  s.offload.nvme_size = Bytes{f.drives->used.value - 1};
  ASSERT_TRUE(forecast(s).out_of_memory);
  EXPECT_EQ(forecast(s).out_of_memory->memory, Tier::nvme);
  EXPECT_EQ(first_advice(s), "data_parallel.zero=1");
}

TEST(NodeMemory, AdvisesWhatPutsLessThere) {
  const auto advice = [](Scenario s) {
    s.cluster.node.host_memory = Bytes{forecast(s).host_memory->used.value - 1};
    return first_advice(s);
  };
  Scenario s = offloading(8, {.optimizer = Tier::host});
  EXPECT_EQ(advice(s), "data_parallel.zero=1");
  s.data_parallel.zero = 1;
  EXPECT_EQ(advice(s), "offload.optimizer=gpu");
  s.offload = {.parameters = Tier::host};
  EXPECT_EQ(advice(s), "data_parallel.zero=3");
  s.data_parallel.zero = 3;
  EXPECT_EQ(advice(s), "offload.parameters=gpu");
  s.offload = {.activations = Tier::host};
  EXPECT_EQ(advice(s), "recompute=selective");
}

// Four GPUs of a second kind in a node of eight, with other shares of the batch.
TEST(NodeMemory, GpusOfTwoKindsPutTheirOwnThere) {
  Scenario s = offloading(8, {.activations = Tier::host});
  s.training.micro_batch = 8;
  s.training.balance = true;
  s.cluster.other = OtherGpus{s.cluster.gpu, 4};
  for (auto& [precision, rate] : s.cluster.other->gpu.peak) rate = {rate.value / 3};
  ASSERT_TRUE(check(s).empty()) << check(s).front().text;
  const Forecast f = forecast(s);
  ASSERT_EQ(f.shares.size(), 2u);
  ASSERT_NE(f.shares[0].micro_batch, f.shares[1].micro_batch);
  const auto own = static_cast<double>(f.stages.front().memory.host.sum().value);
  const double per_sample = own / static_cast<double>(f.shares[0].micro_batch);
  EXPECT_NEAR(static_cast<double>(f.host_memory->used.value), 4 * per_sample * 16, 1e-6 * own);
}

}  // namespace
}  // namespace stepcast::schedules
