#include "schedules/cost/elementwise.h"

#include <gtest/gtest.h>

#include "schedules/cost/kernel.h"

namespace stepcast::schedules {
namespace {

Gpu gpu() {
  Gpu g;
  g.memory_bandwidth = {1e12};
  g.memory_efficiency = 0.8;
  return g;
}

TEST(Elementwise, AMeasuredKernelsShareReplacesTheSoftwaresAverage) {
  Gpu g = gpu();
  Software software;
  software.elementwise_efficiency = 0.5;
  const Elementwise norm{"layer norm", 1e9, 1}, gelu{"bias, GELU", 1e9, 1}, unfused{"bias, GELU", 1e9, 4};
  g.elementwise["gelu"] = 0.9;
  const KernelCost cost{g, software, Precision::bf16};
  EXPECT_EQ(cost.time(norm), from_seconds(1e-3 / 0.8 / 0.5));
  EXPECT_EQ(cost.time(gelu), from_seconds(1e-3 / 0.8 / 0.9));
  EXPECT_EQ(cost.time(unfused), from_seconds(1e-3 / 0.8 / 0.5));  // not the kernel that was measured
}

TEST(Elementwise, ANormsGradientTakesTheTimeMeasuredHoweverOftenTheListReadsItsInput) {
  Gpu g = gpu();
  g.elementwise["layer_norm_backward"] = 0.6;
  // Three tensors at 0.6 of the rate, which the list counts as five.
  EXPECT_EQ((KernelCost{g, Software{}, Precision::bf16}.time(Elementwise{"layer norm gradient", 5e9, 2})),
            from_seconds(3e-3 / 0.8 / 0.6));
}

TEST(Elementwise, EachLaunchTakesTheRampAndTheGap) {
  Gpu g = gpu();
  g.memory_ramp = nanoseconds(1500);
  Software software;
  software.kernel_gap = nanoseconds(1000);
  EXPECT_EQ((KernelCost{g, software, Precision::bf16}.time(Elementwise{"", 1e9, 3})),
            from_seconds(1e-3 / 0.8) + nanoseconds(3 * 2500));
}

TEST(Elementwise, NoTwoKindsAreOneOperator) {
  for (const ElementwiseKind& a : elementwise_kinds()) {
    EXPECT_TRUE(is_elementwise_kind(a.kernel));
    for (const ElementwiseKind& b : elementwise_kinds()) EXPECT_EQ(a.kernel == b.kernel, a.name == b.name);
  }
  EXPECT_FALSE(is_elementwise_kind("copy"));
}

TEST(Gemm, APrecisionMayHaveConstantsOfItsOwn) {
  Gpu g = gpu();
  g.gemm.mainloop = 0.5;
  g.gemm_of[Precision::bf16].mainloop = 0.7;
  EXPECT_EQ(gemm_model(g, Precision::bf16).mainloop, 0.7);
  EXPECT_EQ(gemm_model(g, Precision::fp16).mainloop, 0.5);
  g.gemm_simt.mainloop = 0.3;
  EXPECT_EQ(gemm_model(g, Precision::fp32).mainloop, 0.3);
}

}  // namespace
}  // namespace stepcast::schedules
