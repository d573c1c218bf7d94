// stepcast diff: parts that add up to the difference exactly, results and a recorded trace as sides.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "app/diff/difference.h"
#include "language/configs/config_folders.h"
#include "language/core/library.h"
#include "language/question.h"
#include "language/scenario.h"
#include "schedules/forecast.h"
#include "tests/app/program.h"
#include "tests/app/schema.h"
#include "tests/fuzz/scenarios/choices.h"
#include "tests/fuzz/scenarios/random_scenario.h"
#include "tests/long.h"
#include "tests/sanitized.h"

namespace stepcast::app {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

const std::string kRecorded = "tests/app/traces/resnet-50-v100.pt.trace.json.gz";
const std::string kForecast =
    "scenarios/resnet-50-v100.yaml --set-a cluster.gpus=1 --set-a training.global_batch=32 --set-a "
    "training.micro_batch=32";

/// A forecast side of a random scenario; nothing where it cannot run.
std::optional<DiffSide> random_side(std::uint64_t seed, const test::ConfigNames& names, language::Library& library) {
  test::Choices choose(seed);
  Answer answer;
  try {
    language::fill(answer.question,
                   library.scenario(STEPCAST_SOURCE_DIR "/random-" + std::to_string(seed) + ".yaml",
                                    test::random_scenario(choose, names), language::scenario_schema()),
                   library);
    if (!answer.question.error.empty()) return {};
    schedules::ForecastOptions options;
    options.time_details = true;
    options.advise = false;
    answer.forecast = schedules::forecast(answer.question.scenario, options);
  } catch (const std::exception&) {
    return {};
  }
  return side_of_forecast(answer);
}

void expect_exact(const DiffSide& a, const DiffSide& b) {
  const StepDifference d = difference(a, b, {});
  Time of_a{}, of_b{}, differences{};
  for (const PartDifference& part : d.parts) {
    of_a += part.a;
    of_b += part.b;
    differences += part.difference();
    EXPECT_GE(part.a, Time{}) << part.key;
  }
  EXPECT_EQ(of_a, a.step);
  EXPECT_EQ(of_b, b.step);
  EXPECT_EQ(differences, b.step - a.step);
  for (std::size_t i = 0; i < d.stages.size(); ++i) {
    Time stage{};
    for (const PartDifference& part : d.stages[i]) stage += part.difference();
    EXPECT_EQ(stage, b.step - a.step) << "stage " << i;
  }
}

TEST(Diff, PartsOfRandomPairsAddUpExactly) {
  language::Library library(language::config_folders());
  const test::ConfigNames names = test::config_names(library);
  const std::size_t pairs = test::kSanitized ? 2 : test::long_run() ? 400 : 60;
  std::optional<DiffSide> before;
  std::size_t made = 0;
  for (std::uint64_t seed = 1; made < pairs && seed < 20 * pairs; ++seed) {
    std::optional<DiffSide> side = random_side(seed, names, library);
    if (!side) continue;
    SCOPED_TRACE(seed);
    for (const SideStage& stage : side->stages)
      for (const schedules::TimeDetail& of : schedules::kTimeDetails) {
        Time sum{};
        for (const schedules::TimeDetail& each : schedules::kTimeDetails)
          if (each.part == of.part) sum += stage.time.*each.time;
        EXPECT_EQ(sum, stage.time.*of.part) << of.key;
      }
    if (before) {
      expect_exact(*before, *side);
      ++made;
    }
    before = std::move(side);
  }
  EXPECT_EQ(made, pairs);
}

void expect_sums(const Json& diff) {
  std::int64_t a = 0, b = 0, difference = 0;
  for (const Json& part : diff["parts"]) {
    a += part["a_ps"].get<std::int64_t>();
    b += part["b_ps"].get<std::int64_t>();
    difference += part["difference_ps"].get<std::int64_t>();
  }
  EXPECT_EQ(a, diff["a"]["step_time_ps"].get<std::int64_t>());
  EXPECT_EQ(b, diff["b"]["step_time_ps"].get<std::int64_t>());
  EXPECT_EQ(difference, diff["difference_ps"].get<std::int64_t>());
}

TEST(Diff, AScenarioWithASettingAgainstItself) {
  const Outcome outcome = run_program("diff scenarios/quickstart.yaml --set-b recompute=full --format json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const Json diff = Json::parse(outcome.out);
  expect_schema(results_schema("diff"), diff, "diff");
  expect_sums(diff);
  ASSERT_EQ(diff["keys"].size(), 1u);
  EXPECT_EQ(diff["keys"][0], (Json{{"key", "recompute"}, {"a", "selective"}, {"b", "full"}}));
  EXPECT_EQ(diff["stages"].size(), 8u);
  EXPECT_EQ(diff["a"]["plan"]["recompute"], "selective");
  EXPECT_EQ(diff["b"]["plan"]["recompute"], "full");
  EXPECT_EQ(diff["a"]["plan_by_default"],
            Json({"parallelism.context", "parallelism.expert", "parallelism.expert_tensor", "data_parallel.zero"}));
  const Outcome same = run_program("diff scenarios/quickstart.yaml scenarios/quickstart.yaml");
  EXPECT_THAT(same.out, HasSubstr("The scenarios say the same."));
}

TEST(Diff, AResultIsASideToThePicosecond) {
  const std::string result = testing::TempDir() + "diff-result.json";
  ASSERT_EQ(run_program("run scenarios/quickstart.yaml --format json --output " + result).status, 0);
  const Outcome outcome = run_program("diff " + result + " scenarios/quickstart.yaml --format json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const Json diff = Json::parse(outcome.out);
  expect_sums(diff);
  EXPECT_EQ(diff["difference_ps"], 0);
  EXPECT_EQ(diff["a"]["plan"], diff["b"]["plan"]);  // also as the result has it
  EXPECT_EQ(diff["a"]["plan_by_default"], diff["b"]["plan_by_default"]);
  for (const Json& part : diff["parts"]) EXPECT_EQ(part["difference_ps"], 0) << part["key"];
  std::filesystem::remove(result);
}

TEST(Diff, ARecordedTraceAgainstItsForecast) {
  const Outcome outcome = run_program("diff " + kForecast + " " + kRecorded + " --format json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const Json diff = Json::parse(outcome.out);
  expect_schema(results_schema("diff"), diff, "diff");
  expect_sums(diff);
  EXPECT_EQ(diff["b"]["trace"]["steps"], 4);
  EXPECT_EQ(diff["b"]["trace"]["collectives"].size(), 0u);
  EXPECT_GT(diff["b"]["step_time_s"], 0.1);  // the profiler's steps take 116 to 163 ms
  EXPECT_LT(diff["b"]["step_time_s"], 0.17);
  const std::string named = "diff " + kForecast + " " + kRecorded + " --step ";
  EXPECT_THAT(run_program(named + "8").out, HasSubstr("ProfilerStep#8"));
  const Outcome missing = run_program(named + "99");
  EXPECT_EQ(missing.status, 2);
  EXPECT_THAT(missing.err, HasSubstr("found no step '99', expected one of ProfilerStep#"));
}

TEST(Diff, WithoutBItIsTheRowOfAWithItsOwnSettings) {
  const Outcome outcome =
      run_program("diff scenarios/published/korthikanti_2205_05198.csv --row-a KOR-0003 --set-b data_parallel.zero=1");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
}

TEST(Diff, TellsAFaultOfAFileFromOneOfASetting) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path();
  const std::string faulty = folder / "faulty.yaml", absent = folder / "absent.json";
  std::ofstream(faulty) << "cluster: {node: dgx-a100-80gb, nodes: 8}\n"
                           "model: bert-large\n"
                           "training: {global_batch: 64, micro_batch: 1, sequence: 512}\n"
                           "parallelism: {tensor: 8, pipeline: 7}\n";
  const std::string both = "diff scenarios/quickstart.yaml " + faulty + " --set ";
  EXPECT_THAT(run_program(both + "parallelism.tensor=8").err,
              testing::StartsWith(faulty + ":4:23: parallelism.tensor: tensor 8 x pipeline 7"));
  EXPECT_THAT(run_program("diff " + faulty + " scenarios/quickstart.yaml --set parallelism.tensor=4").err,
              testing::StartsWith(faulty + ": with --set parallelism.tensor=4: parallelism.tensor: tensor 4"));
  EXPECT_THAT(run_program("diff scenarios/quickstart.yaml " + absent + " --set-b recompute=full").err,
              testing::StartsWith(absent + ": no such file"));
}

TEST(Diff, WhatCannotBeASideIsTold) {
  EXPECT_THAT(run_program("diff scenarios/quickstart.yaml").err, HasSubstr("found A alone"));
  EXPECT_THAT(run_program("diff README.md scenarios/quickstart.yaml").err, HasSubstr("expected a scenario (.yaml)"));
  EXPECT_THAT(run_program("diff scenarios/published/dlperf_v100_resnet_bert.csv scenarios/quickstart.yaml").err,
              AllOf(HasSubstr("--row-a: found "), HasSubstr("scenarios, expected the name of one, as '")));
  EXPECT_THAT(
      run_program("diff scenarios/published/korthikanti_2205_05198.csv --row-a KOR-001 --set-b recompute=none").err,
      AllOf(HasSubstr("--row-a: found 'KOR-001', expected one of KOR-0001, "), HasSubstr("did you mean")));
  EXPECT_THAT(run_program("diff scenarios/quickstart.yaml --set-b recompute=full --stage 9").err,
              HasSubstr("--stage: found 9, expected a stage from 0 to 7"));
}

}  // namespace
}  // namespace stepcast::app
