// What a result says of the plan that it is of.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "language/plan_keys.h"
#include "tests/app/program.h"

namespace stepcast::app {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;
using testing::Not;

TEST(SimulatedPlan, TellsWhatIsSaidAndWhatIsNot) {
  const std::string out = run_program("run scenarios/quickstart.yaml --set parallelism.data=").out;
  EXPECT_THAT(
      out, HasSubstr("\n  plan              tensor 8, sequence parallelism, pipeline 8, schedule interleaved-1f1b, "));
  EXPECT_THAT(out, HasSubstr("\n  by default        data 1, ZeRO 0"));
  EXPECT_THAT(out, Not(HasSubstr("context"))) << "one rank is no context parallelism";
}

TEST(SimulatedPlan, WhatAnOptionSaysIsNoDefault) {
  const Json plain = Json::parse(run_program("run scenarios/quickstart.yaml --format json").out)["results"][0];
  EXPECT_EQ(plain["plan"]["parallelism.data"], 1);
  EXPECT_EQ(plain["plan"]["parallelism.sequence"], true);
  EXPECT_EQ(plain["plan"]["micro_batches"], 64);
  const Json said =
      Json::parse(run_program("run scenarios/quickstart.yaml --set parallelism.data=1 --set parallelism.context=1 "
                              "--set data_parallel.zero=0 --set recompute=none --format json")
                      .out)["results"][0];
  EXPECT_EQ(said["plan"].size(), language::kPlanKeys.size() + 1) << "every key, and micro_batches";
  for (const char* key : {"parallelism.data", "parallelism.context", "data_parallel.zero", "recompute"}) {
    EXPECT_THAT(said["plan_by_default"], Not(testing::Contains(key)));
    EXPECT_TRUE(said["plan"].contains(key)) << key;
  }
  EXPECT_THAT(plain["plan_by_default"], testing::Contains("parallelism.context"));
}

TEST(SimulatedPlan, IsToldOfWhatIsNotSimulatedToo) {
  const std::string run = "run scenarios/quickstart.yaml --simulate none";
  EXPECT_THAT(run_program(run).out, HasSubstr("\n  plan              "));
  EXPECT_TRUE(Json::parse(run_program(run + " --format json").out)["results"][0].contains("plan"));
}

}  // namespace
}  // namespace stepcast::app
