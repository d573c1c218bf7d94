#include "calibrate/logs/kineto.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/input_error.h"

namespace stepcast::calibrate {
namespace {

using testing::HasSubstr;

/// As the profiler of PyTorch 2 writes it: microseconds since 1970.
constexpr const char* kTrace = R"json({
  "schemaVersion": 1,
  "deviceProperties": [{"id": 0, "name": "NVIDIA H200", "numSms": 132}],
  "traceEvents": [
    {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 9, "tid": 9, "ts": 1763719200000000.1, "dur": 50,
     "args": {"External id": 1, "Input Dims": [[4096, 4096], [4096, 4096]]}},
    {"ph": "X", "cat": "kernel", "name": "nvjet_hsh_256x128_64x4", "pid": 1, "tid": 7, "ts": 1763719200000010.0,
     "dur": 200.5, "args": {"device": 1, "stream": 7, "correlation": 3, "grid": [1, 1, 1]}},
    {"ph": "f", "id": 3, "pid": 1, "tid": 7, "ts": 1763719200000010, "cat": "ac2g", "name": "ac2g", "bp": "e"},
    {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pinned -> Device)",
                     "ts" : 1763719200000000, "dur" : 3, "args" : {
  "device" : 1, "bytes" : 4096
}
},
    {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "python"}}
  ],
  "traceName": "trace.json"
})json";

TEST(Kineto, TakesTheGpusEventsOfATrace) {
  const KernelLog log = parse_kineto(kTrace, "t.json");
  const std::vector<KernelSpan>& spans = log.spans;
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_EQ(log.names[spans[0].name], "nvjet_hsh_256x128_64x4");
  EXPECT_EQ(spans[0].kind, KernelClass::gemm);
  EXPECT_EQ(spans[0].device, 1u);
  EXPECT_EQ(spans[0].start, microseconds(10));
  EXPECT_EQ(spans[0].duration, nanoseconds(200'500));
  EXPECT_EQ(spans[1].kind, KernelClass::copy);
  EXPECT_EQ(spans[1].start, Time{});
}

TEST(Kineto, TakesAListOfEventsAndOldNamesOfCategories) {
  const std::vector<KernelSpan> spans =
      parse_kineto(R"([{"ph":"X","cat":"Kernel","name":"relu","ts":5,"dur":2}])", "t.json").spans;
  ASSERT_EQ(spans.size(), 1u);
  EXPECT_EQ(spans[0].device, 0u);
}

std::string complaint(std::string_view text) {
  try {
    parse_kineto(text, "t.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

TEST(Kineto, SaysWhatIsWrong) {
  EXPECT_THAT(complaint(std::string_view(kTrace).substr(0, 700)),
              HasSubstr("t.json:10:79: found no JSON: the file breaks off here"));
  EXPECT_THAT(complaint("{}"), HasSubstr("t.json: found no event of category kernel"));
  EXPECT_EQ(complaint(R"([{"ph":"X","cat":"kernel","name":"relu","ts":5}])"),
            "t.json: event 'relu': dur: expected microseconds");
  EXPECT_THAT(complaint(R"([{"ph":"X","cat":"kernel","name":"relu","ts":5,"dur":-1}])"),
              HasSubstr("event 'relu': dur: found -1, expected microseconds, from 0 to 4e12 (46 days)"));
  EXPECT_THAT(complaint(R"([{"ph":"X","cat":"kernel","name":"relu","ts":5,"dur":1e300}])"),
              HasSubstr("event 'relu': dur: found 1e+300, expected"));
  EXPECT_THAT(complaint(R"([{"ph":"X","cat":"kernel","name":"a","ts":5,"dur":1},
                            {"ph":"X","cat":"kernel","name":"b","ts":5e15,"dur":1}])"),
              HasSubstr("event 'b': more than 46 days after the first"));
}

constexpr const char* kEvent = R"({"ph":"X","cat":"kernel","name":"relu","ts":5,"dur":2})";

TEST(Kineto, PassesOverWhateverIsNoEvent) {
  const auto spans = [](const std::string& text) { return parse_kineto(text, "t.json").spans; };
  const std::string event = kEvent;
  EXPECT_EQ(spans("[{}, [" + event + "], 7, {\"args\": " + event + "}, " + event + "]").size(), 1u);
  EXPECT_EQ(spans("{\"other\": [" + event + "], \"traceEvents\": [" + event + "], \"more\": [" + event + "]}").size(),
            1u);
  const auto device = spans(R"([{"args":{"device":2,"x":{"device":3},"y":[{"device":4}]},"ph":"X","cat":"kernel",)"
                            R"("name":"a","ts":1,"dur":1,"device":5}])");
  EXPECT_EQ(device.at(0).device, 2u);
}

TEST(Kineto, KeepsOneNameForAllItsRuns) {
  const KernelLog log = parse_kineto("[" + std::string(kEvent) + "," + kEvent + "]", "t.json");
  ASSERT_EQ(log.spans.size(), 2u);
  EXPECT_EQ(log.spans[0].name, log.spans[1].name);
}

TEST(Kineto, ReadsObjectsThatAreNoEventsInLinearTime) {
  // With the square of them this would take minutes.
  std::string text = "[";
  for (int i = 0; i < 100'000; ++i) text += "{},";
  for (int i = 0; i < 5'000; ++i) text.append(kEvent).append(",");
  EXPECT_EQ(parse_kineto(text + kEvent + "]", "t.json").spans.size(), 5'001u);
}

TEST(Kineto, SaysWhereItIsNoJsonAndNeverMuch) {
  EXPECT_EQ(complaint(std::string(100'000, '[')),
            "t.json: event 0: found more than 64 lists and objects inside each other, expected fewer");
  EXPECT_EQ(complaint("[{\"ph\": \"\xff\"}]"), "t.json:1:10: found bytes that are not UTF-8, expected UTF-8 text");
  EXPECT_EQ(complaint("[\n{,}]"), "t.json:2:2: found no JSON: ',}]' cannot stand here");
  EXPECT_LT(complaint("[" + std::string(100'000, '1') + "]").size(), 200u);
  EXPECT_LT(complaint("[\"" + std::string(100'000, 'x') + "\n\"]").size(), 200u);
  EXPECT_LT(
      complaint(R"([{"ph":"X","cat":"kernel","ts":1,"dur":-1,"name":")" + std::string(100'000, 'x') + "\"}]").size(),
      200u);
}

}  // namespace
}  // namespace stepcast::calibrate
