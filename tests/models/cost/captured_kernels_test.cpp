#include "models/cost/captured_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "models/cost/pass.h"
#include "models/layers/model_blocks.h"
#include "tests/schedules/free_links.h"

namespace stepcast::schedules {
namespace {

Scenario with_experts() {
  Scenario s = round_numbers(1);
  s.model.family = Family::moe;
  s.model.experts = {.count = 8, .active = 2, .ffn = 1024};
  s.software.grouped_multiply = true;
  return s;
}

/// The first layer.
Block layer_of(const Scenario& s) {
  const Blocks all = blocks(s);
  return *std::ranges::find_if(all.kinds, &Block::layer);
}

/// What the host launches of a pass, and whether the kernels of these kinds are in a graph.
std::int64_t launched(const Scenario& s, const Kernels& pass) {
  const KernelCost cost{
      .gpu = s.cluster.gpu, .software = s.software, .precision = s.training.precision, .of_layer = true};
  const auto none = [](const TensorCollective&) -> collectives::SharedTiming { return nullptr; };
  return pass_time(pass, cost, none).host.launches;
}

bool in_graph(const Kernels& pass, const CapturedModules& modules, OperatorKind of) {
  const std::vector<bool> captured = captured_kernels(pass, modules);
  for (std::size_t i = 0; i < pass.size(); ++i)
    if (kind(pass[i]) == of) return captured[i];
  ADD_FAILURE() << name(of);
  return false;
}

TEST(CapturedKernels, AreThoseOfTheModulesAndTheNormsInFrontOfThem) {
  const Kernels forward = layer_of(with_experts()).forward;
  const CapturedModules attention{.attention = true};
  EXPECT_TRUE(captured_kernels(forward, attention).front());  // the norm
  EXPECT_TRUE(in_graph(forward, attention, OperatorKind::query_key_value));
  EXPECT_TRUE(in_graph(forward, attention, OperatorKind::attention_projection));
  EXPECT_FALSE(in_graph(forward, attention, OperatorKind::router));
  const CapturedModules router{.router = true, .counts = true};
  EXPECT_FALSE(captured_kernels(forward, router).front());
  EXPECT_TRUE(in_graph(forward, router, OperatorKind::router));
  EXPECT_TRUE(in_graph(forward, router, OperatorKind::expert_counts));
  EXPECT_FALSE(in_graph(forward, router, OperatorKind::expert_copies));
  EXPECT_FALSE(in_graph(forward, router, OperatorKind::experts_in));
  EXPECT_FALSE(in_graph(forward, {.counts = true}, OperatorKind::router));
}

TEST(CapturedKernels, OfALayerWithoutExpertsAreItsFeedForwardBlock) {
  const Kernels forward = layer_of(round_numbers(1)).forward;
  EXPECT_TRUE(in_graph(forward, {.feed_forward = true}, OperatorKind::feed_forward_in));
  EXPECT_FALSE(in_graph(forward, {.feed_forward = true}, OperatorKind::query_key_value));
  EXPECT_FALSE(in_graph(forward, {.router = true}, OperatorKind::feed_forward_in));
}

TEST(CapturedKernels, ThatFollowEachOtherAreOneLaunchAndTakeTheGpuAsLong) {
  Scenario s = with_experts();
  s.software.host_per_kernel = microseconds(5);
  for (const Kernels& pass : {layer_of(s).forward, layer_of(s).backward}) {
    s.software.cuda_graph_modules = {};
    const std::int64_t all = launched(s, pass);
    s.software.cuda_graph_modules = {.attention = true, .router = true, .counts = true};
    const std::vector<bool> captured = captured_kernels(pass, s.software.cuda_graph_modules);
    std::int64_t inside = 0, graphs = 0;
    for (std::size_t i = 0; i < pass.size(); ++i) {
      if (!captured[i]) continue;
      inside += launches(pass[i]);
      if (i == 0 || !captured[i - 1]) ++graphs;
    }
    ASSERT_GT(inside, 1);
    EXPECT_EQ(launched(s, pass), all - inside + graphs);
  }
}

}  // namespace
}  // namespace stepcast::schedules
