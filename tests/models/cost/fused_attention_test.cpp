#include "models/cost/fused_attention.h"

#include <gtest/gtest.h>

#include "models/cost/kernel_time.h"
#include "scenario/measured_kernels.h"

namespace stepcast::schedules {
namespace {

Gpu attention_gpu() {
  Gpu g;
  g.sms = 100;
  g.peak = {{Precision::bf16, {1e15}}, {Precision::fp8, {2e15}}};
  g.attention_forward = 0.5;
  g.attention_backward = 0.4;
  g.attention_flash_2 = 0.6;
  g.attention_cudnn = 0.9;
  g.attention_fp8_share = 0.8;
  g.attention_tile = 128;
  return g;
}

Time alone(const FusedAttention& kernel, const Gpu& g = attention_gpu(), const Software& software = {}) {
  return fused_attention_time(kernel, g, software, Precision::bf16);
}

FusedAttention of_widths(std::int64_t keys, std::int64_t values, bool backward) {
  return {.flops = {1e12}, .query_rows = 1e9, .backward = backward, .key_width = keys, .value_width = values};
}

TEST(FusedAttention, ForwardEndsWithOneTileThatSkipsNothing) {
  // Half the square at half the peak; then 128 rows of 128,000 on one of 100 SMs.
  EXPECT_EQ(alone({{}, {1e12}, 128'000, false, 1}), from_seconds((0.5e12 + 1e12 * 100 / 1000) / 0.5e15));
}

TEST(FusedAttention, BackwardEndsUnevenlyAndLastsAsLongAsTheBlockThatAllQueriesSee) {
  // A block of 128 keys of 128,000 is a thousandth of the square, on one of 100 SMs; a third of it is left at the end.
  EXPECT_EQ(alone({{}, {1e12}, 128'000, true, 1}), from_seconds((0.5e12 + 1e12 * 100 / 1000 / 3) / 0.4e15));
  // Of 12,800 keys it is a hundredth: it alone takes as long as the whole square takes all of them.
  EXPECT_EQ(alone({{}, {1e12}, 12'800, true, 1}), from_seconds(1e12 / 0.4e15));
  EXPECT_EQ(alone({.flops = {1e12}, .query_rows = 12'800, .backward = true, .causal = false}),
            from_seconds(1e12 / 0.4e15));
}

TEST(FusedAttention, AnOlderKernelReachesItsShareOfANewerOnesRate) {
  Software older;
  older.flash_2 = true;
  older.attention_efficiency = 0.5;
  const FusedAttention kernel{{}, {1e12}, 1'000'000, true, 1};
  EXPECT_NEAR(to_seconds(alone(kernel, attention_gpu(), older)) * 0.3, to_seconds(alone(kernel)), 1e-9);
}

TEST(FusedAttention, CudnnReachesItsShareUnlessTheStackHasAnOlderKernel) {
  const FusedAttention kernel{{}, {1e12}, 1'000'000, true, 1};
  const double fastest = to_seconds(alone(kernel));
  Software stack;
  stack.attention_by = KernelMaker::cudnn;
  EXPECT_NEAR(to_seconds(alone(kernel, attention_gpu(), stack)) * 0.9, fastest, 1e-9);
  stack.flash_2 = true;
  EXPECT_NEAR(to_seconds(alone(kernel, attention_gpu(), stack)) * 0.6, fastest, 1e-9);
}

TEST(FusedAttention, KernelsAreThoseOfTheGpuUnlessTheStackHasOlderOnes) {
  Gpu g = attention_gpu();
  Software stack;
  EXPECT_EQ(attention_kernels(g, stack), AttentionKernels::unpadded);  // not NVIDIA's
  g.compute_capability = 80;
  EXPECT_EQ(attention_kernels(g, stack), AttentionKernels::flash_attention_2);
  g.compute_capability = 90;
  EXPECT_EQ(attention_kernels(g, stack), AttentionKernels::newer);
  stack.flash_2 = true;
  EXPECT_EQ(attention_kernels(g, stack), AttentionKernels::flash_attention_2);
}

TEST(FusedAttention, IsCudnnsFromAComputeCapabilityOnWhereTheStackSaysSo) {
  Gpu g = attention_gpu();
  Software stack;
  stack.flash_2 = true;
  stack.attention_by = KernelMaker::flash_attention_2;
  stack.cudnn_attention_from = 100;
  g.compute_capability = 90;
  EXPECT_EQ(attention_maker(g, stack), KernelMaker::flash_attention_2);
  EXPECT_EQ(attention_kernels(g, stack), AttentionKernels::flash_attention_2);
  EXPECT_EQ(maker_share(g, stack), 0.6);
  g.compute_capability = 100;
  EXPECT_EQ(attention_maker(g, stack), KernelMaker::cudnn);
  EXPECT_EQ(attention_kernels(g, stack), AttentionKernels::newer);
  EXPECT_EQ(maker_share(g, stack), 0.9);
}

TEST(FusedAttention, WidthsAreRoundedUpToThoseThatKernelsWereCompiledFor) {
  constexpr auto kOld = AttentionKernels::flash_attention_2, kNew = AttentionKernels::newer;
  for (const auto& [width, older, newer] : {std::tuple{33, 64, 64},
                                            {64, 64, 64},
                                            {80, 96, 96},
                                            {100, 128, 128},
                                            {128, 128, 128},
                                            {160, 160, 192},
                                            {193, 256, 256},
                                            {256, 256, 256},
                                            {257, 320, 320}}) {
    EXPECT_EQ(padded_width(width, kOld), older) << width;
    EXPECT_EQ(padded_width(width, kNew), newer) << width;
    EXPECT_EQ(padded_width(width, AttentionKernels::unpadded), width);
  }
}

TEST(FusedAttention, NarrowerValuesArePaddedToKeysBackwardAndByOlderKernelsForward) {
  constexpr auto kOld = AttentionKernels::flash_attention_2, kNew = AttentionKernels::newer;
  EXPECT_DOUBLE_EQ(padding(of_widths(192, 128, false), kNew), 1);
  EXPECT_DOUBLE_EQ(padding(of_widths(192, 128, true), kNew), 1.2);
  EXPECT_DOUBLE_EQ(padding(of_widths(192, 128, false), kOld), 1.2);
  EXPECT_DOUBLE_EQ(padding(of_widths(80, 80, false), kOld), 1.2);
  EXPECT_DOUBLE_EQ(padding(of_widths(192, 128, true), AttentionKernels::unpadded), 1);
  EXPECT_DOUBLE_EQ(padding({.flops = {1e12}}, kOld), 1);  // widths not said
  Gpu ampere = attention_gpu();
  ampere.compute_capability = 80;
  EXPECT_NEAR(to_seconds(alone(of_widths(80, 80, false), ampere)) / to_seconds(alone(of_widths(96, 96, false), ampere)),
              1.2, 1e-6);
}

TEST(FusedAttention, InEightBitsReachesItsShareOfTheirPeak) {
  FusedAttention kernel = of_widths(128, 128, false);
  const Time sixteen = alone(kernel);
  kernel.low_precision = true;
  EXPECT_NEAR(to_seconds(sixteen) / to_seconds(fused_attention_time(kernel, attention_gpu(), {}, Precision::fp8)),
              2 * 0.8, 1e-6);
}

}  // namespace
}  // namespace stepcast::schedules
