#include "models/layers/expert_loop.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "models/cost/pass.h"
#include "models/layers/transformer_layer.h"
#include "schedules/checks/check.h"
#include "tests/models/models.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

struct ExpertLoops : testing::Test {
  static constexpr double kExperts = 32, kRows = 1024 * 4 / kExperts, kHidden = 1024, kInner = 512, kElement = 2;
  Scenario s = [] {
    Scenario one = round_numbers(1);
    one.model = small_experts();
    one.model.experts.ffn = 512;
    one.model.experts.shared_ffn = 0;
    one.training.global_batch = 1;
    one.software.dropout = false;
    one.software.host_per_kernel = milliseconds(1);
    one.software.expert_loop = true;
    return one;
  }();
  OperatorList layer() const {
    return layer_operators(s, stack_sizes(s, s.training.sequence, true), {Mixer::attention, FeedForward::experts});
  }
  PassTime time(const Kernels& kernels) const {
    return pass_time(kernels, {s.cluster.gpu, s.software, s.training.precision}, {});
  }
};

double multiplied_by(const Kernels& kernels) {
  double all = 0;
  for (const Kernel& kernel : kernels)
    if (const auto* gemm = std::get_if<Gemm>(&kernel)) all += gemm->shape.flops().value;
  return all;
}

bool is_awaited(const Kernel& kernel) {
  const auto* elementwise = std::get_if<Elementwise>(&kernel);
  return elementwise != nullptr && elementwise->host_waits;
}

TEST_F(ExpertLoops, MultiplyAndOwnAsMuchAsGroupedExperts) {
  const OperatorList looped = layer();
  s.software.expert_loop = false;
  const OperatorList grouped = layer();
  EXPECT_EQ(multiplied_by(looped.forward), multiplied_by(grouped.forward));
  EXPECT_EQ(multiplied_by(looped.backward), multiplied_by(grouped.backward));
  EXPECT_EQ(parameters(looped), parameters(grouped));
  // Each expert's rows, its output, an inner width more, its weights, and two numbers for each row.
  EXPECT_EQ(saved_bytes(looped) - saved_bytes(grouped),
            kExperts * kRows * ((kHidden + kInner + 1) * kElement + 2 * 8 - 4));
}

// The host comes to know which experts have tokens, and for each its number and how many they are.
TEST_F(ExpertLoops, HaveTheHostWaitTwiceForEachExpertForward) {
  const OperatorList list = layer();
  EXPECT_EQ(std::ranges::count_if(list.forward, is_awaited), 2 * kExperts + 1);
  EXPECT_EQ(std::ranges::count_if(list.backward, is_awaited), 0);
}

// A host that needs a millisecond for each kernel is what all waits for: until the last expert's tokens are counted.
TEST_F(ExpertLoops, TakeAsLongAsTheHostNeedsToLaunchThem) {
  const Kernels forward = layer().forward;
  const auto last = std::find_if(forward.rbegin(), forward.rend(), is_awaited).base();
  const Kernels until(forward.begin(), last), behind(last, forward.end());
  std::int64_t launched = 0;
  for (const Kernel& kernel : until) launched += launches(kernel);
  const PassTime whole = time(forward), tail = time(behind);
  EXPECT_EQ(whole.duration + whole.host.behind, milliseconds(launched) + tail.duration + tail.host.behind);
  EXPECT_EQ(whole.host.time, milliseconds(launched) + tail.host.time);
  // Of an expert: its number, its mask, its count, its rows (3), gate, up, activation, product, down, weights, their
  // product, sum.
  s.model.experts.count *= 2;
  const Kernels twice = layer().forward;
  const auto all = [](const Kernels& kernels) {
    std::int64_t sum = 0;
    for (const Kernel& kernel : kernels) sum += launches(kernel);
    return sum;
  };
  EXPECT_EQ(all(twice) - all(forward), kExperts * 14);
}

TEST_F(ExpertLoops, AreOfRanksThatHaveAllExperts) {
  EXPECT_TRUE(check(s).empty());
  s.training.expert_load.capacity = 1;
  ASSERT_EQ(check(s).size(), 1u);
  EXPECT_EQ(check(s).front().key, "software.expert_loop");
  s.training.expert_load.capacity.reset();
  s.software.cuda_graphs = CudaGraphs::layers;
  ASSERT_EQ(check(s).size(), 1u);
  EXPECT_EQ(check(s).front().key, "software.cuda_graphs");
}

}  // namespace
}  // namespace stepcast::schedules
