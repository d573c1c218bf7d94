// Lines of `nsys export --type json`. Their form is that of recorded exports; the lines are our own.

#include "calibrate/logs/nsys_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calibrate/logs/step_trace.h"
#include "sim/input_error.h"

namespace stepcast::calibrate {
namespace {

using testing::HasSubstr;

constexpr const char* kTexts =
    R"({"data":["[Unknown]","sm90_xmma_gemm_bf16","ncclDevKernel_AllReduce_Sum_bf16_RING_LL","cudaLaunchKernel"]})"
    "\n";

/// A kernel of 10 us, a copy of 5 us, a collective of 20 us that runs for 5 us beside neither.
constexpr const char* kEvents =
    R"({"Type":48,"TraceProcessEvent":{"startNs":"1000","endNs":"3000","correlationId":7,"eventClass":1,"name":"3","globalTid":"292568055813839"}})"
    "\n"
    R"({"Type":79,"CudaEvent":{"startNs":"5000","endNs":"15000","correlationId":7,"deviceId":1,"contextId":"1","streamId":"7","eventClass":3,"globalPid":"292568055152640","kernel":{"demangledName":"1","shortName":"1"}}})"
    "\n"
    R"({"Type":80,"CudaEvent":{"startNs":"15000","endNs":"20000","correlationId":8,"deviceId":1,"streamId":"43","eventClass":1,"globalPid":"292568055152640","memcpy":{"sizebytes":"58720256","copyKind":"2"}}})"
    "\n"
    R"({"Type":79,"CudaEvent":{"startNs":"5000","endNs":"25000","correlationId":9,"deviceId":1,"streamId":"13","eventClass":3,"globalPid":"292568055152640","kernel":{"shortName":"2"}}})"
    "\n"
    R"({"Type":106,"CudaEvent":{"startNs":"5000","endNs":"9000","correlationId":10,"deviceId":0,"streamId":"47","eventClass":5,"sync":{"eventId":8823}}})"
    "\n"
    R"({"Type":59,"NvtxEvent":{"Type":59,"Timestamp":"1","Text":"a CudaEvent of nobody","GlobalTid":"1","EndTimestamp":"2"}})"
    "\n";

std::string nsys_complaint(const std::string& text) {
  try {
    parse_nsys_json(text, "n.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

void expect_the_log(const KernelLog& log) {
  ASSERT_EQ(log.spans.size(), 3u);
  EXPECT_EQ(log.names[log.spans[0].name], "sm90_xmma_gemm_bf16");
  EXPECT_EQ(log.spans[0].kind, KernelClass::gemm);
  EXPECT_EQ(log.spans[0].device, 1u);
  EXPECT_EQ(log.spans[0].stream, 7u);
  EXPECT_EQ(log.spans[0].start, Time{});
  EXPECT_EQ(log.spans[0].duration, microseconds(10));
  EXPECT_EQ(log.spans[0].launched, Time{} - microseconds(4));
  EXPECT_EQ(log.names[log.spans[1].name], "memcpy device to host");
  EXPECT_FALSE(log.spans[1].launched);
  EXPECT_EQ(log.spans[2].kind, KernelClass::collective);
  EXPECT_EQ(log.spans[2].operation, collectives::Operation::all_reduce);
}

TEST(NsysJson, HasKernelsCopiesAndLaunches) {
  const std::string text = std::string(kTexts) + kEvents;
  EXPECT_TRUE(is_nsys_json(text));
  const KernelLog log = parse_nsys_json(text, "n.json");
  expect_the_log(log);
  const StepTrace step = step_trace(log);
  EXPECT_EQ(step.length, microseconds(20));
  EXPECT_EQ(step.part(TracePart::multiplies), microseconds(10));
  EXPECT_EQ(step.part(TracePart::communication), microseconds(10)) << "communication counts before copies";
}

TEST(NsysJson, TextsMayComeLastOrALineEach) {
  expect_the_log(parse_nsys_json(std::string(kEvents) + kTexts, "n.json"));
  const std::string lines = R"({"type":"String","id":"1","value":"sm90_xmma_gemm_bf16"})"
                            "\n"
                            R"({"type":"String","id":"2","value":"ncclDevKernel_AllReduce_Sum_bf16_RING_LL"})"
                            "\n";
  EXPECT_TRUE(is_nsys_json(lines));
  expect_the_log(parse_nsys_json(lines + kEvents, "n.json"));
}

TEST(NsysJson, IsToldFromOtherJson) {
  EXPECT_FALSE(is_nsys_json(R"({"schemaVersion": 1, "traceEvents": []})"));
  EXPECT_FALSE(is_nsys_json(R"({"results": []})"));
  EXPECT_FALSE(is_nsys_json("[]"));
  EXPECT_FALSE(is_nsys_json("{"));
}

TEST(NsysJson, SaysWhereItIsWrong) {
  EXPECT_THAT(nsys_complaint(kTexts), HasSubstr("n.json: found no CudaEvent of a kernel"));
  EXPECT_THAT(nsys_complaint(std::string(kTexts) + R"({"CudaEvent": {])"), HasSubstr("n.json:2:16: "));
  EXPECT_THAT(nsys_complaint(std::string(kTexts) + R"({"CudaEvent": {"kernel": {}, "endNs": 3}})"),
              HasSubstr("n.json:2: startNs: found nothing, expected a whole number"));
  EXPECT_THAT(nsys_complaint(R"({"CudaEvent": {"memcpy": {}, "startNs": "1.5", "endNs": 3}})"),
              HasSubstr("n.json:1: startNs: found \"1.5\", expected a whole number"));
  EXPECT_THAT(
      nsys_complaint(R"({"CudaEvent": {"memset": {}, "startNs": 5, "endNs": 3}})"),
      HasSubstr("n.json: 'memset': found start 5, end 3, device 0, expected nanoseconds in order and a device"));
}

}  // namespace
}  // namespace stepcast::calibrate
