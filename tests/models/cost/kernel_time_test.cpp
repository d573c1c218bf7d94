#include "models/cost/kernel_time.h"

#include <gtest/gtest.h>

namespace stepcast::schedules {
namespace {

Gpu timed_gpu() {
  Gpu g;
  g.sms = 100;
  g.peak = {{Precision::bf16, {1e15}}};
  return g;
}

TEST(KernelCost, AStackReachesItsShareOfEveryKernelsRateButNotOfGaps) {
  Gpu g = timed_gpu();
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
  g.step_share = 0.8;
  const auto time_in = [&](Precision precision) {
    return KernelCost{g, slow, precision}.time(Elementwise{{}, 1e9, 1}) - slow.kernel_gap;
  };
  EXPECT_EQ(time_in(Precision::fp8), held);
  g.low_precision_step_share = 1;
  EXPECT_EQ(time_in(Precision::fp8), alone_time);
  EXPECT_EQ(time_in(Precision::bf16), held);
}

// The largest of n draws of a normal distribution lies 0, 0.5642, 1.4236 and 3.2414 standard deviations above the mean
// for n of 1, 2, 8 and 1000 (Harter 1961, tables of normal order statistics).
TEST(KernelCost, TheSlowestOfManyGpusIsAsFarFromTheMeanAsIsExpected) {
  Gpu g = timed_gpu();
  EXPECT_EQ(slowest_of(g, 1000), 1);
  g.spread = 0.01;
  EXPECT_EQ(slowest_of(g, 1), 1);
  EXPECT_NEAR(slowest_of(g, 2), 1.005642, 3e-4);
  EXPECT_NEAR(slowest_of(g, 8), 1.014236, 2e-4);
  EXPECT_NEAR(slowest_of(g, 1000), 1.032414, 2e-4);
}

TEST(KernelCost, AMultiplyOnPlainCoresRunsAtTheirRate) {
  Gpu g = timed_gpu();
  g.peak[Precision::fp32] = {1e13};
  g.memory_bandwidth = {1e13};
  Gemm heads{.shape = {2048, 2048, 150, 96, 2, 2}};
  const KernelCost cost{g, Software{}, Precision::bf16};
  const Time on_matrix_units = cost.time(heads);
  heads.plain_cores = true;
  EXPECT_GT(cost.time(heads), 20 * on_matrix_units);
  EXPECT_GE(to_seconds(cost.time(heads)), heads.model_flops() / 1e13);
}

TEST(KernelCost, MultipliesWaitForTheSlowestGpuStreamingKernelsDoNot) {
  Gpu g = timed_gpu();
  g.memory_bandwidth = {1e12};
  const Software software;
  const KernelCost mean{g, software, Precision::bf16},
      slow{.gpu = g, .software = software, .precision = Precision::bf16, .slowest = 1.1};
  const auto ratio = [&](const Kernel& kernel) { return slow.time(kernel) / mean.time(kernel); };
  EXPECT_NEAR(ratio(Gemm{{}, {4096, 4096, 4096, 1, 2, 2}}), 1.1, 1e-6);
  EXPECT_NEAR(ratio(Convolution{{}, {4096, 4096, 4096, 1, 2, 2}, 1e8}), 1.1, 1e-6);
  EXPECT_NEAR(ratio(FusedAttention{{}, {1e12}, 128'000, false, 1}), 1.1, 1e-6);
  EXPECT_EQ(ratio(Elementwise{{}, 1e9, 1}), 1);
}

TEST(KernelCost, EveryExpertOfAGroupedMultiplyAddsItsLaunch) {
  Gpu g = timed_gpu();
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

TEST(KernelCost, HostsLaunchEachExpertsCallWhereTheSoftwareSaysSo) {
  const Gpu g = timed_gpu();
  Software software;
  software.host_per_kernel = microseconds(10);
  const Gemm experts{.shape = {100, 128, 1024, 8, 2, 2}, .linear = true};
  const Elementwise casts{.bytes = 1e6, .kernels = 8, .by_expert = true};
  const auto host = [&](const Kernel& kernel) {
    const HostLaunches launches = KernelCost{g, software, Precision::bf16}.launch(kernel, nullptr);
    return launches.each * launches.count;
  };
  EXPECT_EQ(host(experts), microseconds(10));
  EXPECT_EQ(host(casts), microseconds(80));
  software.host_per_expert = microseconds(4);
  EXPECT_EQ(host(experts), microseconds(32));
  EXPECT_EQ(host(casts), microseconds(32));
  EXPECT_EQ(host(Gemm{.shape = {100, 128, 1024, 8, 2, 2}}), microseconds(10));  // attention's core
  software.host_time = 2.5;
  EXPECT_EQ(host(experts), microseconds(80));
  EXPECT_EQ(host(Elementwise{.bytes = 1e6}), microseconds(25));
}

TEST(KernelCost, ScansAreBoundByMultiprocessorsByMemoryOrByTheirSteps) {
  Gpu g = timed_gpu();
  g.sms = 100;
  g.memory_bandwidth = {1e12};
  Software software;
  software.delta_net_rates = {{1e12}, {5e11}};
  software.scan_step = microseconds(2);
  const KernelCost cost{g, software, Precision::bf16};
  ChunkProducts scan{.by = ScanKernels::delta_net, .flops = {1e11}, .bytes = 1e6};
  EXPECT_EQ(cost.time(scan), milliseconds(1));
  scan.backward = true;
  EXPECT_EQ(cost.time(scan), milliseconds(2));
  scan.bytes = 4e9;
  EXPECT_EQ(cost.time(scan), milliseconds(4));
  scan.steps = 3000;
  EXPECT_EQ(cost.time(scan), milliseconds(6));
  g.scan_speed = 0.01;
  EXPECT_EQ(cost.time(scan), milliseconds(200));
}

TEST(KernelCost, MultipliesLaunchedApartRunOneAfterTheOther) {
  Gpu g = timed_gpu();
  g.memory_bandwidth = {1e12};
  const Software software;
  const KernelCost cost{g, software, Precision::bf16};
  const Time one = cost.time(Gemm{{}, {100, 128, 1024, 1, 2, 2}});
  EXPECT_EQ(cost.time(Gemm{{}, {100, 128, 1024, 8, 2, 2}, false, 8}), one * 8);
  EXPECT_LT(cost.time(Gemm{{}, {100, 128, 1024, 8, 2, 2}}), one * 8);
}

TEST(KernelCost, TellsTheWorkOfEachKernelAndTheRateThatItIsComparedWith) {
  Gpu g = timed_gpu();
  g.memory_bandwidth = {1e12};
  g.elementwise["rms_norm"] = 0.5;
  g.peak[Precision::fp8] = {2e15};
  const Software software;
  const KernelCost cost{g, software, Precision::fp8};

  const KernelRating gemm = cost.rating(Gemm{{}, {10, 20, 30, 4, 2, 2}, false, 1, true, true});
  EXPECT_EQ(gemm.shape, "4 times 10 x 30 x 20");
  EXPECT_EQ(gemm.flops, 2. * 4 * 10 * 20 * 30);
  EXPECT_EQ(gemm.bytes, 2. * 4 * (10 * 30 + 20 * 30 + 10 * 20));
  EXPECT_EQ(gemm.rated, 2e15);
  EXPECT_FALSE(gemm.by_bytes);
  EXPECT_EQ(cost.rating(Gemm{{}, {10, 20, 30, 4, 2, 2}}).rated, 1e15);  // not of low precision

  const KernelRating attention = cost.rating(FusedAttention{.flops = {100}, .query_rows = 5});
  EXPECT_EQ(attention.flops, 50);
  EXPECT_EQ(attention.rated, 1e15);
  EXPECT_EQ(attention.source, "gpu.peak.bf16 x gpu.attention.forward");

  const KernelRating convolution =
      KernelCost{g, software, Precision::bf16}.rating(Convolution{{}, {10, 20, 30, 1, 2, 2}, 70});
  EXPECT_EQ(convolution.bytes, 70 + 2 * 10 * 20);
  EXPECT_EQ(convolution.rated, 1e15);

  const KernelRating unmeasured = cost.rating(Elementwise{{}, 80, 3});
  EXPECT_EQ(unmeasured.bytes, 80);
  EXPECT_EQ(unmeasured.rated, 1e12);
  EXPECT_TRUE(unmeasured.by_bytes);
  EXPECT_EQ(unmeasured.shape, "3 kernels");
  EXPECT_EQ(unmeasured.source, "gpu.memory.bandwidth x software.elementwise_efficiency");

  const KernelRating norm = cost.rating(Elementwise{OperatorKind::rms_norm, 80, 1});
  EXPECT_EQ(norm.source, "gpu.memory.bandwidth x measured share (gpu.elementwise)");
  EXPECT_EQ(norm.shape, "");

  const KernelRating traffic = cost.rating(TensorCollective{{}, collectives::Operation::all_gather, Bytes{90}, true});
  EXPECT_EQ(traffic.shape, "all_gather, under the next kernel");
  EXPECT_EQ(traffic.bytes, 90);
  EXPECT_EQ(traffic.rated, 0);
}

// Classes of kernels in a stage's time: a kernel that is not known to multiply is one of memory traffic.
TEST(KernelCost, MultipliesAreWhatAModelCountsFlopsOf) {
  EXPECT_TRUE(multiplies(Gemm{}) && multiplies(Convolution{}) && multiplies(FusedAttention{}));
  EXPECT_FALSE(multiplies(Elementwise{}) || multiplies(TensorCollective{}));
}

}  // namespace
}  // namespace stepcast::schedules
