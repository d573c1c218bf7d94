#include "schedules/cost/kernel.h"

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
  EXPECT_EQ(cost.time(FusedAttention{"", {1e12}, 128'000, false, 1}),
            from_seconds((0.5e12 + 1e12 * 100 / 1000) / 0.5e15));
  // Backward blocks own keys, and many short ones fill the end.
  EXPECT_EQ(cost.time(FusedAttention{"", {1e12}, 128'000, true, 1}), from_seconds(0.5e12 / 0.4e15));
}

TEST(FusedAttention, AnOlderKernelReachesItsShareOfANewerOnesRate) {
  const Gpu g = gpu();
  const Software newest;
  Software older;
  older.flash_2 = true;
  older.attention_efficiency = 0.5;
  const FusedAttention kernel{"", {1e12}, 1'000'000, true, 1};
  EXPECT_NEAR(to_seconds(KernelCost{g, older, Precision::bf16}.time(kernel)) * 0.3,
              to_seconds(KernelCost{g, newest, Precision::bf16}.time(kernel)), 1e-9);
}

}  // namespace
}  // namespace stepcast::schedules
