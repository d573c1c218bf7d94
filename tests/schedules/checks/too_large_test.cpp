#include "schedules/checks/too_large.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schedules/checks/check.h"
#include "schedules/forecast.h"
#include "sim/input_error.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

using ::testing::HasSubstr;

std::string key(const Scenario& s) {
  const std::vector<Problem> problems = check(s);
  return problems.size() == 1 ? problems.front().key : std::to_string(problems.size()) + " problems";
}

TEST(TooLarge, AMillionMicroBatchesOnOneStageAreOne) {
  Scenario s = round_numbers(8);
  s.parallelism = {.tensor = 8};
  s.training.micro_batch = 1;
  s.training.global_batch = 1000;
  const Time thousand = forecast(s).step;
  s.training.global_batch = 2000;
  const Time two_thousand = forecast(s).step;
  s.training.global_batch = 1'000'000;
  EXPECT_EQ(key(s), "0 problems");
  EXPECT_EQ(forecast(s).step, two_thousand + (two_thousand - thousand) * 998);
}

TEST(TooLarge, MicroBatchesThatAreJoinedTakeAsLongAsTheyTakeApart) {
  for (const bool overlap : {false, true})
    for (const int zero : {0, 1, 2, 3}) {
      Scenario s = round_numbers(8);
      s.parallelism = {.data = 8};
      s.training.micro_batch = 1;
      s.training.global_batch = 64;
      s.data_parallel.zero = zero;
      s.data_parallel.overlap = overlap;
      const Forecast joined = forecast(s), apart = forecast(s, {.trace = true});  // a trace shows each
      EXPECT_EQ(joined.step, apart.step);
      EXPECT_EQ(joined.stages[0].time.compute, apart.stages[0].time.compute);
      EXPECT_EQ(joined.stages[0].time.exposed_data, apart.stages[0].time.exposed_data);
    }
}

TEST(TooLarge, TooManyMicroBatchesOfAPipelineNameTheBatch) {
  Scenario s = round_numbers(64);
  s.parallelism = {.tensor = 4, .pipeline = 16};
  s.training.micro_batch = 1;
  s.training.global_batch = 80'000;
  EXPECT_EQ(key(s), "training.global_batch");
  EXPECT_THAT(check(s).front().text, HasSubstr("16 stages x 80000 micro-batches x 2 kinds of passes is about "
                                               "2.56e+06 passes to simulate, allowed are 2.5e+06: here up to"));
  s.training.global_batch = 70'000;
  EXPECT_EQ(key(s), "0 problems");
}

TEST(TooLarge, WhatEveryRankDoesByItselfNamesWhyItDoes) {
  Scenario s = round_numbers(16384);
  s.parallelism = {.tensor = 4, .data = 4096};
  s.training.micro_batch = 1;
  s.training.global_batch = 4096;
  EXPECT_EQ(key(s), "0 problems");
  s.training.global_batch = 4096 * 100;
  EXPECT_EQ(key(s), "0 problems");
  s.imperfections = {.slow_gpu = 3, .gpu_speed = 0.5};
  EXPECT_EQ(key(s), "imperfections.slow_gpu");
}

TEST(TooLarge, ManyRanksThatSlowEachOtherByChanceNameTheJitter) {
  Scenario s = round_numbers(16384);
  s.parallelism = {.data = 16384};
  s.training.micro_batch = 1;
  s.training.global_batch = 16384;
  s.data_parallel.overlap = true;
  s.data_parallel.bucket = Bytes{1};
  s.software.overlap_slowdown = 0.1;
  s.imperfections.slow_gpu = 3;
  s.imperfections.gpu_speed = 0.5;
  EXPECT_EQ(key(s), "0 problems");  // all others go on together
  s.imperfections.jitter = 0.1;
  EXPECT_EQ(key(s), "imperfections.jitter");
  s.data_parallel.overlap = false;
  EXPECT_EQ(key(s), "0 problems");
}

// What a rank costs that others slow grows with the ranks.
TEST(TooLarge, RanksThatAreNamedAsTheMostAreAllowed) {
  Scenario s = round_numbers(16384);
  s.parallelism = {.data = 16384};
  s.training.micro_batch = 1;
  s.training.global_batch = 16384;
  s.data_parallel.overlap = true;
  s.data_parallel.bucket = Bytes{1};
  s.software.overlap_slowdown = 0.1;
  s.imperfections.jitter = 0.1;
  const std::vector<Problem> problems = check(s);
  ASSERT_EQ(problems.size(), 1u);
  const std::string& text = problems.front().text;
  const std::size_t at = text.rfind("up to ");
  ASSERT_NE(at, std::string::npos) << text;
  const auto most = static_cast<std::uint32_t>(std::stoul(text.substr(at + 6))) / 8 * 8;  // whole nodes
  for (const auto& [ranks, expected] : {std::pair{most, "0 problems"}, {most / 80 * 88, "imperfections.jitter"}}) {
    s.cluster.gpus = s.parallelism.data = ranks;
    s.training.global_batch = ranks;
    EXPECT_EQ(key(s), expected) << ranks;
  }
}

TEST(TooLarge, WhatIsUnfoldedOnTheCommandLineIsRefusedThere) {
  Scenario s = round_numbers(16384);
  s.parallelism = {.tensor = 4, .data = 4096};
  s.training.micro_batch = 1;
  s.training.global_batch = 4096 * 100;
  EXPECT_EQ(key(s), "0 problems");
  EXPECT_THROW(forecast(s, {.unfold = true}), InputError);
}

}  // namespace
}  // namespace stepcast::schedules
