#include "calibrate/logs/step_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <tuple>
#include <vector>

#include "calibrate/logs/kineto.h"
#include "sim/input_error.h"

namespace stepcast::calibrate {
namespace {

using collectives::Operation;

/// Times in microseconds. The GPU begins the first step at 10, where its first kernel runs, and the second at 120.
constexpr const char* kSteps = R"json([
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","ts":0,"dur":100},
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#2","ts":100,"dur":90},
{"ph":"X","cat":"gpu_user_annotation","name":"ProfilerStep#1","ts":10,"dur":3},
{"ph":"X","cat":"user_annotation","name":"Optimizer.step#SGD.step","ts":60,"dur":20},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","ts":5,"dur":1,"args":{"correlation":1}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","ts":66,"dur":1,"args":{"correlation":2}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","ts":105,"dur":1,"args":{"correlation":3}},
{"ph":"X","cat":"kernel","name":"sgemm","ts":10,"dur":40,"args":{"device":0,"stream":7,"correlation":1}},
{"ph":"X","cat":"kernel","name":"at::native::add","ts":70,"dur":5,"args":{"device":0,"stream":7,"correlation":2}},
{"ph":"X","cat":"kernel","name":"ncclDevKernel_Generic","ts":30,"dur":35,
 "args":{"device":0,"stream":9,"correlation":9,"Collective name":"_allgather_base","Group size":8}},
{"ph":"X","cat":"kernel","name":"what","ts":120,"dur":50,"args":{"device":0,"stream":7,"correlation":3}}])json";

Time sum(const StepTrace& trace) { return std::accumulate(trace.parts.begin(), trace.parts.end(), Time{}); }

TEST(StepTrace, EachMomentOfAStepIsToldOnce) {
  const StepTrace step = step_trace(parse_kineto(kSteps, "t.json"), {.step = "1"});
  EXPECT_EQ(step.name, "ProfilerStep#1");
  EXPECT_EQ(step.length, microseconds(110));
  EXPECT_EQ(sum(step), step.length);
  EXPECT_EQ(step.part(TracePart::multiplies), microseconds(40));
  EXPECT_EQ(step.part(TracePart::communication), microseconds(15));  // of 35, of which 20 are beside the multiply
  EXPECT_EQ(step.part(TracePart::optimizer), microseconds(5));
  EXPECT_EQ(step.part(TracePart::host), microseconds(50));  // 65 to 70 and 75 to 120: launched at 66 and 105
  ASSERT_EQ(step.collectives.size(), 1u);
  EXPECT_EQ(step.collectives[0].operation, Operation::all_gather);
  EXPECT_EQ(step.collectives[0].ranks, 8u);
  EXPECT_EQ(step.collectives[0].total, microseconds(35));
  EXPECT_EQ(step.collectives[0].exposed, microseconds(15));
  ASSERT_EQ(step.streams.size(), 2u);
  EXPECT_EQ(step.streams[0].busy, microseconds(45));
}

/// What, from when and to when, in microseconds from the step's beginning.
using PartsOfRow = std::vector<std::tuple<TracePart, std::int64_t, std::int64_t>>;
PartsOfRow in_microseconds(const TracedRow& row) {
  PartsOfRow out;
  for (const TracedStretch& each : row.stretches)
    out.emplace_back(each.part, each.start.value / 1'000'000, (each.start + each.duration).value / 1'000'000);
  return out;
}

TEST(StepTrace, TellsWhatRanWhen) {
  const StepTrace step = step_trace(parse_kineto(kSteps, "t.json"), {.step = "1", .rows = true});
  ASSERT_EQ(step.rows.size(), 3u);
  EXPECT_FALSE(step.rows[0].stream);
  EXPECT_EQ(in_microseconds(step.rows[0]), (PartsOfRow{{TracePart::multiplies, 0, 40},
                                                       {TracePart::communication, 40, 55},
                                                       {TracePart::host, 55, 60},
                                                       {TracePart::optimizer, 60, 65},
                                                       {TracePart::host, 65, 110}}));
  EXPECT_EQ(step.rows[1].stream, 7u);
  EXPECT_EQ(in_microseconds(step.rows[1]),
            (PartsOfRow{{TracePart::multiplies, 0, 40}, {TracePart::optimizer, 60, 65}}));
  EXPECT_EQ(step.rows[2].stream, 9u);
  EXPECT_EQ(in_microseconds(step.rows[2]), (PartsOfRow{{TracePart::communication, 20, 55}}));
  EXPECT_EQ(step.kernels[*step.rows[2].stretches[0].kernel], "ncclDevKernel_Generic");
  Time sum{};
  for (const TracedStretch& each : step.rows[0].stretches) sum += each.duration;
  EXPECT_EQ(sum, step.length);
  EXPECT_TRUE(step_trace(parse_kineto(kSteps, "t.json")).rows.empty()) << "nobody asked";
}

TEST(StepTrace, WhatBeginsBeforeTheOneAheadHasEndedIsToldFromThereOn) {
  const KernelLog log = parse_kineto(R"([{"ph":"X","cat":"kernel","name":"sgemm","ts":0,"dur":10},
                                         {"ph":"X","cat":"kernel","name":"sgemm","ts":2,"dur":3},
                                         {"ph":"X","cat":"kernel","name":"sgemm","ts":8,"dur":4}])",
                                     "t.json");
  const StepTrace step = step_trace(log, {.rows = true});
  EXPECT_EQ(in_microseconds(step.rows.at(1)),
            (PartsOfRow{{TracePart::multiplies, 0, 10}, {TracePart::multiplies, 10, 12}}));
  EXPECT_EQ(step.kernels.size(), 1u);
  EXPECT_TRUE(step_trace(log, {.steps = 2, .rows = true}).rows.empty()) << "a mean has no moments";
}

TEST(StepTrace, WhatNoPatternKnowsIsListed) {
  const StepTrace step = step_trace(parse_kineto(kSteps, "t.json"), {.step = "ProfilerStep#2"});
  ASSERT_EQ(step.unclassed.size(), 1u);
  EXPECT_EQ(step.unclassed[0].name, "what");
  EXPECT_EQ(step.part(TracePart::unclassed), microseconds(50));
  EXPECT_EQ(step.length, microseconds(70));  // to where the mark ends, at 190
}

TEST(StepTrace, AKernelOfALambdaIsNoOptimizer) {
  const KernelLog log = parse_kineto(
      R"([{"ph":"X","cat":"kernel","name":"at::native::threshold_kernel_impl<float>(float)::{lambda(float)#1}","ts":0,"dur":10},
          {"ph":"X","cat":"kernel","name":"multi_tensor_apply_kernel<LAMBStage1Functor<float>>","ts":10,"dur":3},
          {"ph":"X","cat":"kernel","name":"fused_lamb_kernel","ts":13,"dur":4}])",
      "t.json");
  const StepTrace step = step_trace(log);
  EXPECT_EQ(step.part(TracePart::memory_bound), microseconds(10));
  EXPECT_EQ(step.part(TracePart::optimizer), microseconds(7));
}

TEST(StepTrace, ATraceWithoutMarksIsAsManyStepsAsIsSaid) {
  const KernelLog log = parse_kineto(R"([{"ph":"X","cat":"kernel","name":"sgemm","ts":0,"dur":10},
                                         {"ph":"X","cat":"gpu_memcpy","name":"c","ts":10,"dur":7},
                                         {"ph":"X","cat":"kernel","name":"sgemm","ts":20,"dur":3.000001}])",
                                     "t.json");
  const StepTrace whole = step_trace(log);
  EXPECT_EQ(whole.length, picoseconds(23'000'001));
  EXPECT_EQ(whole.part(TracePart::idle), microseconds(3));
  const StepTrace third = step_trace(log, {.steps = 3});
  EXPECT_EQ(third.length, picoseconds(7'666'667));
  EXPECT_EQ(sum(third), third.length);
  EXPECT_THROW(step_trace(log, {.step = "4"}), InputError);
  EXPECT_THROW(step_trace(log, {.device = 1}), InputError);
}

TEST(StepTrace, OperationsAreReadOffNames) {
  EXPECT_EQ(operation_of("ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL"), Operation::reduce_scatter);
  EXPECT_EQ(operation_of("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)"), Operation::send_recv);
  EXPECT_EQ(operation_of("all_to_allv"), Operation::all_to_all);
  EXPECT_EQ(operation_of("barrier"), std::nullopt);
}

}  // namespace
}  // namespace stepcast::calibrate
