#include "models/cost/elementwise.h"

#include <gtest/gtest.h>

#include "models/cost/kernel_time.h"

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
  const Elementwise norm{OperatorKind::layer_norm, 1e9, 1}, gelu{OperatorKind::gelu, 1e9, 1},
      unfused{OperatorKind::gelu, 1e9, 4};
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
  EXPECT_EQ(
      (KernelCost{g, Software{}, Precision::bf16}.time(Elementwise{OperatorKind::layer_norm, 5e9, 2, false, true})),
      from_seconds(3e-3 / 0.8 / 0.6));
}

TEST(Elementwise, EachLaunchTakesTheRampAndTheGap) {
  Gpu g = gpu();
  g.memory_ramp = nanoseconds(1500);
  Software software;
  software.kernel_gap = nanoseconds(1000);
  EXPECT_EQ((KernelCost{g, software, Precision::bf16}.time(Elementwise{{}, 1e9, 3})),
            from_seconds(1e-3 / 0.8) + nanoseconds(3 * 2500));
}

TEST(Elementwise, NoTwoMeasuredKernelsAreOfOnePassOfOneOperator) {
  for (const MeasuredKernel& a : measured_kernels()) {
    EXPECT_TRUE(is_measured_kernel(a.key));
    for (const MeasuredKernel& b : measured_kernels())
      EXPECT_EQ(a.key == b.key, a.kind == b.kind && a.backward == b.backward);
  }
  EXPECT_FALSE(is_measured_kernel("copy"));
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
