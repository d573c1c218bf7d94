#include "models/cost/pass.h"

#include <gtest/gtest.h>

#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

constexpr Time kCollective = microseconds(300);

collectives::SharedTiming taking(Time duration) {
  collectives::Timing timing;
  timing.duration = duration;
  return std::make_shared<const collectives::Timing>(timing);
}

collectives::SharedTiming fixed(const TensorCollective&) { return taking(kCollective); }

struct Pass : testing::Test {
  Scenario scenario = round_numbers(8);
  KernelCost cost{scenario.cluster.gpu, scenario.software, Precision::fp16};
  Elementwise kernel{{}, 2e9};  // 1 ms at 2 TB/s
  TensorCollective sum{{}, collectives::Operation::all_reduce, {1}, false};
  TensorCollective hidden{{}, collectives::Operation::all_reduce, {1}, true};
};

TEST_F(Pass, AddsKernelsAndCollectivesThatNothingHides) {
  const PassTime t = pass_time({kernel, sum, kernel}, cost, fixed);
  EXPECT_EQ(t.compute, milliseconds(2));
  EXPECT_EQ(t.exposed_tensor, kCollective);
  EXPECT_EQ(t.duration, t.compute + t.exposed_tensor);
}

TEST_F(Pass, ACollectiveUnderTheNextKernelCostsOnlyTheSlowdown) {
  scenario.software.overlap_slowdown = 0.1;
  const PassTime t = pass_time({hidden, kernel}, cost, fixed);
  EXPECT_EQ(t.exposed_tensor, Time{});
  EXPECT_EQ(t.compute, milliseconds(1) + microseconds(30));
}

TEST_F(Pass, WhatSticksOutOfTheKernelIsExposed) {
  const PassTime t = pass_time({hidden, Elementwise{{}, 0.2e9}}, cost, fixed);
  EXPECT_EQ(t.compute, microseconds(100));
  EXPECT_EQ(t.exposed_tensor, microseconds(200));
}

// Twice two kernels, of which the host reads the second one's result, and one more; it needs 100 us to launch each.
TEST_F(Pass, AHostThatReadsAResultGainsNoLead) {
  scenario.software.host_per_kernel = microseconds(100);
  const auto of = [&](double bytes) {
    const Elementwise plain{{}, bytes}, read{.bytes = bytes, .host_waits = true};
    return pass_time({plain, read, plain, read, plain}, cost, fixed);
  };
  const PassTime brief = of(20e6);  // 10 us: the host is late
  EXPECT_EQ(brief.compute, microseconds(50));
  EXPECT_EQ(brief.host.behind, microseconds(180));   // at the first wait
  EXPECT_EQ(brief.exposed_host, microseconds(180));  // at the second
  EXPECT_EQ(brief.duration, microseconds(50 + 180));
  EXPECT_EQ(brief.host.time, microseconds(500));
  EXPECT_EQ(brief.host.ahead, microseconds(-90));  // which launches no more
  const PassTime lengthy = of(2e9);                // 1 ms: the host waits
  EXPECT_EQ(lengthy.duration, milliseconds(5));
  EXPECT_EQ(lengthy.exposed_host, Time{});
  EXPECT_EQ(lengthy.host.behind, Time{});
  EXPECT_EQ(lengthy.host.time, microseconds(500));
  EXPECT_EQ(lengthy.host.ahead, microseconds(900));
  EXPECT_EQ(lengthy.host.launches, 1);
  // Again and again: each is held up once more.
  EXPECT_EQ((brief * 3).duration, microseconds(3 * 230 + 2 * (180 + 90)));
  EXPECT_EQ(in_a_row(brief), microseconds(500));
  // Beside another pass the GPU has kernels of that one while the host waits.
  EXPECT_EQ(together(lengthy, lengthy).exposed_host, Time{});
  EXPECT_EQ(together(brief, brief).host.behind, microseconds(900));
}

struct PassInParts : Pass {
  /// Of a multiply of 8192 tokens whose parts take `g` each, and traffic that takes 700 us, or a part's bytes of it.
  Gemm multiply{{}, {8192, 4096, 4096}};
  Time part(int n) const {
    Gemm one = multiply;
    one.shape.m /= n;
    return cost.time(one);
  }
  static collectives::SharedTiming by_bytes(const TensorCollective& op) { return taking({op.bytes.value}); }
  static TensorCollective of(collectives::Operation operation, Time whole, int parts) {
    TensorCollective op{{}, operation, {whole.value}};
    op.parts = parts;
    return op;
  }
};

// A ring of t ranks: the own part is there, t - 1 arrive one after the other, each multiplied once it is there.
TEST_F(PassInParts, ARingsGatherPacesOrIsPacedByTheMultiplyBehindIt) {
  for (const int t : {2, 4, 8})
    for (const Time whole : {microseconds(7), microseconds(700), milliseconds(7)}) {
      const TensorCollective gather = of(collectives::Operation::all_gather, whole, t);
      const Time g = part(t), a{whole.value / (t - 1)};
      EXPECT_EQ(pass_time({gather, multiply}, cost, by_bytes).duration, std::max(g * t, a * (t - 1) + g));
    }
}

TEST_F(PassInParts, AScatterPacesOrIsPacedByTheMultiplyBeforeItAndItsLastPartIsLeft) {
  constexpr int n = 4;
  for (const Time whole : {microseconds(8), microseconds(800), milliseconds(8)}) {
    const TensorCollective scatter = of(collectives::Operation::reduce_scatter, whole, n);
    const Time g = part(n), r{whole.value / n};
    EXPECT_EQ(pass_time({multiply, scatter}, cost, by_bytes).duration, g + std::max(g, r) * (n - 1) + r);
  }
}

TEST_F(PassInParts, BothSlowDownWhileBothRun) {
  const TensorCollective scatter = of(collectives::Operation::reduce_scatter, microseconds(80), 4);
  const Time alone = pass_time({multiply, scatter}, cost, by_bytes).compute;
  scenario.software.overlap_slowdown = 0.1;
  EXPECT_EQ(pass_time({multiply, scatter}, cost, by_bytes).compute, alone + microseconds(6));  // 3 parts of 20
}

TEST_F(PassInParts, WhatHasNoMultiplyBesideItRunsAlone) {
  for (const auto operation : {collectives::Operation::all_gather, collectives::Operation::reduce_scatter})
    EXPECT_EQ(pass_time({kernel, of(operation, microseconds(70), 4), kernel}, cost, by_bytes).exposed_tensor,
              microseconds(70));
}

TEST_F(Pass, TwoPassesTogetherTakeTheLongerOfKernelsAndTrafficAndTheHostLaunchesBoth) {
  const auto with = [&](Time collective) {
    return pass_time({kernel, sum, kernel}, cost, [=](const TensorCollective&) { return taking(collective); });
  };
  // Two passes, each of 2 ms of kernels and one collective.
  EXPECT_EQ(together(with(milliseconds(1)), with(milliseconds(1))).duration, milliseconds(4));
  EXPECT_EQ(together(with(milliseconds(5)), with(milliseconds(1))).duration, milliseconds(6));
  scenario.software.host_per_kernel = milliseconds(3);  // 9 ms for the launches of each
  EXPECT_EQ(in_a_row(with(milliseconds(1))), milliseconds(9));
  for (const Time traffic : {Time{}, milliseconds(1), milliseconds(6)}) {
    EXPECT_EQ(in_a_row(together(with(traffic), with(traffic))), milliseconds(18));
    EXPECT_EQ(begun_together(together(with(traffic), with(traffic))).duration, milliseconds(18));
  }
  const PassTime bound = together(with(milliseconds(10)), with(milliseconds(10)));
  EXPECT_EQ(in_a_row(bound), milliseconds(20));
  EXPECT_EQ(bound.compute, milliseconds(4));
}

TEST_F(Pass, ACollectiveWithNoKernelAfterItIsExposed) {
  EXPECT_EQ(pass_time({kernel, hidden}, cost, fixed).exposed_tensor, kCollective);
}

TEST_F(Pass, TheHostHoldsUpAPassOfTinyKernelsToTheLaunchOfItsLast) {
  scenario.software.host_per_kernel = microseconds(5);
  const Elementwise tiny{{}, 2e6};  // 1 us
  const PassTime pass = pass_time(Kernels(100, tiny), cost, fixed);
  EXPECT_EQ(pass.duration, microseconds(100));
  EXPECT_EQ(pass.host.time, microseconds(500));
  EXPECT_EQ(begun_together(pass).duration, microseconds(99 * 5 + 1));
  EXPECT_EQ(begun_together(pass).exposed_host, microseconds(99 * 4));
  // Launches of one kernel are spread over it.
  EXPECT_EQ(pass_time({Elementwise{{}, 200e6, 100}}, cost, fixed).host.behind, pass.host.behind);
}

// Copies may meet less than others, and end sooner.
TEST_F(Pass, WaitingForCopiesHidesNoLaunches) {
  for (const Time copies : {Time{}, microseconds(5), microseconds(500)}) {
    const PassTime one{.duration = microseconds(10) + copies,
                       .compute = microseconds(10),
                       .exposed_copy = copies,
                       .host = {microseconds(30), {}, 1}};
    EXPECT_EQ((one + one).host.behind, microseconds(20));
    EXPECT_EQ((one * 3).host.behind, microseconds(40));
    EXPECT_EQ((one + one).duration, one.duration * 2);
  }
}

TEST_F(Pass, ACollectiveHasAHostTimeOfItsOwn) {
  scenario.software.host_per_kernel = microseconds(5);
  EXPECT_EQ(pass_time({kernel, sum, kernel}, cost, fixed).host.time, microseconds(15));
  scenario.software.host_per_collective = microseconds(40);
  EXPECT_EQ(pass_time({kernel, sum, kernel}, cost, fixed).host.time, microseconds(50));
}

TEST_F(Pass, WithBlockingLaunchesHostAndGpuTakeTurns) {
  scenario.software.host_per_kernel = microseconds(5);
  scenario.software.launch_blocking = true;
  const PassTime pass = pass_time({kernel, sum, kernel}, cost, fixed);
  EXPECT_EQ(pass.exposed_host, microseconds(15));
  EXPECT_EQ(pass.duration, milliseconds(2) + kCollective + microseconds(15));
  EXPECT_EQ(begun_together(pass).duration, pass.duration);
  // And again: no lead was gained.
  EXPECT_EQ((pass + pass).host.behind, Time{});
}

TEST_F(Pass, AGraphIsOneLaunchAndACompilerMakesElementwiseKernelsInARowOne) {
  scenario.software.host_per_kernel = microseconds(5);
  const Kernels kernels{kernel, kernel, sum, Elementwise{{}, 2e9, 4}, kernel, Gemm{{}, {128, 128, 128}}, kernel};
  EXPECT_EQ(pass_time(kernels, cost, fixed).host.launches, 10);
  scenario.software.compiled = true;
  EXPECT_EQ(pass_time(kernels, cost, fixed).host.launches, 5);
  KernelCost captured = cost;
  captured.of_layer = true;
  scenario.software.cuda_graphs = CudaGraphs::layers;
  const PassTime graph = pass_time(kernels, captured, fixed);
  EXPECT_EQ(graph.host.launches, 1);
  EXPECT_EQ(graph.host.time, microseconds(5));
  EXPECT_EQ(graph.duration, pass_time(kernels, cost, fixed).duration);
}

}  // namespace
}  // namespace stepcast::schedules
