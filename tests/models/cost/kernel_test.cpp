#include "models/cost/kernel.h"

#include <gtest/gtest.h>

namespace stepcast::schedules {
namespace {

Gpu gpu() {
  Gpu g;
  g.sms = 100;
  g.peak = {{Precision::bf16, {1e15}}};
  g.attention_forward = 0.5;
  g.attention_backward = 0.4;
  g.attention_flash_2 = 0.6;
  g.attention_tile = 128;
  return g;
}

TEST(FusedAttention, ForwardEndsWithOneTileThatSkipsNothing) {
  const Gpu g = gpu();
  const Software software;
  const KernelCost cost{g, software, Precision::bf16};
  // Half the square at half the peak; then 128 rows of 128,000 on one of 100 SMs.
  EXPECT_EQ(cost.time(FusedAttention{{}, {1e12}, 128'000, false, 1}),
            from_seconds((0.5e12 + 1e12 * 100 / 1000) / 0.5e15));
  // Backward blocks own keys, and many short ones fill the end.
  EXPECT_EQ(cost.time(FusedAttention{{}, {1e12}, 128'000, true, 1}), from_seconds(0.5e12 / 0.4e15));
}

TEST(FusedAttention, AnOlderKernelReachesItsShareOfANewerOnesRate) {
  const Gpu g = gpu();
  const Software newest;
  Software older;
  older.flash_2 = true;
  older.attention_efficiency = 0.5;
  const FusedAttention kernel{{}, {1e12}, 1'000'000, true, 1};
  EXPECT_NEAR(to_seconds(KernelCost{g, older, Precision::bf16}.time(kernel)) * 0.3,
              to_seconds(KernelCost{g, newest, Precision::bf16}.time(kernel)), 1e-9);
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
