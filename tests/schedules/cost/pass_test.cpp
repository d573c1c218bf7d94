#include "schedules/cost/pass.h"

#include <gtest/gtest.h>

#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

constexpr Time kCollective = microseconds(300);

collectives::Timing fixed(const TensorCollective&) {
  collectives::Timing timing;
  timing.duration = kCollective;
  timing.latency = microseconds(10);
  return timing;
}

struct Pass : testing::Test {
  Scenario scenario = round_numbers(8);
  KernelCost cost{scenario.cluster.gpu, scenario.software, Precision::fp16};
  Elementwise kernel{"kernel", 2e9};  // 1 ms at 2 TB/s
  TensorCollective sum{"sum", collectives::Operation::all_reduce, {1}, false};
  TensorCollective hidden{"hidden", collectives::Operation::all_reduce, {1}, true};
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
  const PassTime t = pass_time({hidden, Elementwise{"short", 0.2e9}}, cost, fixed);
  EXPECT_EQ(t.compute, microseconds(100));
  EXPECT_EQ(t.exposed_tensor, microseconds(200));
}

TEST_F(Pass, ACollectiveWithNoKernelAfterItIsExposed) {
  EXPECT_EQ(pass_time({kernel, hidden}, cost, fixed).exposed_tensor, kCollective);
}

TEST_F(Pass, TheHostBoundsAPassOfTinyKernels) {
  scenario.software.host_per_kernel = microseconds(5);
  const Operators tiny(100, Elementwise{"tiny", 1e3});
  EXPECT_EQ(pass_time(tiny, cost, fixed).duration, microseconds(500));
}

}  // namespace
}  // namespace stepcast::schedules
