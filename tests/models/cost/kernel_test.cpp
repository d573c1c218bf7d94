#include "models/cost/kernel.h"

#include <gtest/gtest.h>

namespace stepcast::schedules {
namespace {

Gpu gpu() {
  Gpu g;
  g.sms = 100;
  g.peak = {{Precision::bf16, {1e15}}};
  return g;
}

TEST(KernelCost, AStackReachesItsShareOfEveryKernelsRateButNotOfGaps) {
  Gpu g = gpu();
  g.memory_bandwidth = {1e12};
  Software alone;
  alone.kernel_gap = microseconds(2);
  Software slow = alone;
  slow.compute_share = 0.8;
  const auto expect_slower = [&](const auto& kernel) {
    const Time whole = KernelCost{g, alone, Precision::bf16}.time(kernel) - alone.kernel_gap;
    EXPECT_NEAR(to_seconds(KernelCost{g, slow, Precision::bf16}.time(kernel) - slow.kernel_gap),
                to_seconds(whole) / 0.8, 2e-12);
  };
  expect_slower(Gemm{{}, {4096, 4096, 4096, 1, 2, 2}});
  expect_slower(Convolution{{}, {4096, 4096, 4096, 1, 2, 2}, 1e8});
  expect_slower(Elementwise{{}, 1e9, 1});
  expect_slower(FusedAttention{{}, {1e12}, 128'000, false, 1});
  slow.compute_share = 1;
  g.step_share = 0.8;
  const Time held = KernelCost{g, slow, Precision::bf16}.time(Elementwise{{}, 1e9, 1}) - slow.kernel_gap;
  g.step_share = 1;
  const Time alone_time = KernelCost{g, slow, Precision::bf16}.time(Elementwise{{}, 1e9, 1}) - slow.kernel_gap;
  EXPECT_NEAR(to_seconds(held), to_seconds(alone_time) / 0.8, 2e-12);
}

TEST(KernelCost, EveryExpertOfAGroupedMultiplyAddsItsLaunch) {
  Gpu g = gpu();
  g.memory_bandwidth = {1e12};
  Software software;
  const Gemm experts{.shape = {100, 128, 1024, 8, 2, 2}, .linear = true};
  const Time without = KernelCost{g, software, Precision::bf16}.time(experts);
  software.grouped_multiply_launch = microseconds(5);
  const KernelCost cost{g, software, Precision::bf16};
  EXPECT_EQ(cost.time(experts), without + microseconds(40));
  const Gemm heads{.shape = {100, 128, 1024, 8, 2, 2}};  // attention's core is one batched multiply
  EXPECT_EQ(cost.time(heads), without);
  const Gemm apart{.shape = {100, 128, 1024, 8, 2, 2}, .kernels = 8, .linear = true};
  EXPECT_EQ(cost.time(apart), (KernelCost{g, {}, Precision::bf16}.time(apart)));
}

TEST(KernelCost, MultipliesLaunchedApartRunOneAfterTheOther) {
  Gpu g = gpu();
  g.memory_bandwidth = {1e12};
  const Software software;
  const KernelCost cost{g, software, Precision::bf16};
  const Time one = cost.time(Gemm{{}, {100, 128, 1024, 1, 2, 2}});
  EXPECT_EQ(cost.time(Gemm{{}, {100, 128, 1024, 8, 2, 2}, false, 8}), one * 8);
  EXPECT_LT(cost.time(Gemm{{}, {100, 128, 1024, 8, 2, 2}}), one * 8);
}

}  // namespace
}  // namespace stepcast::schedules
