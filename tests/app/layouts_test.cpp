// `stepcast layouts` and docs/layouts.md, of which STEPCAST_UPDATE_GOLDEN=1 app_tests --gtest_filter='LayoutsCommand*'
// rewrites the example.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tests/app/page_block.h"
#include "tests/app/program.h"
#include "tests/app/schema.h"
#include "tests/sanitized.h"

namespace stepcast::app {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using LayoutsJson = nlohmann::json;

class LayoutsCommand : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(std::filesystem::path(STEPCAST_PROGRAM).parent_path() /
                                 "lib/stepcast/stepcast-cbc.so"))
      GTEST_SKIP() << "built without CBC (Debian: coinor-libcbc-dev)";
  }
};

TEST_F(LayoutsCommand, PrintsWhatItsPageShows) {
  LEFT_TO_RELEASE();
  const Outcome outcome = run_program("layouts scenarios/quickstart.yaml");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  std::string block = "\n";
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) block += line.empty() ? "\n" : "    " + line + "\n";
  expect_block("docs/layouts.md", "layouts", block + "\n");
}

TEST_F(LayoutsCommand, FollowsItsSchemaAndIsTheSameOnAnyThreads) {
  if (test::kSanitized) GTEST_SKIP() << "LayoutsCommand.SaysWhereNothingFits goes the same way";
  for (const std::string scenario : {"scenarios/quickstart.yaml --mesh 1x8 --stages 8",
                                     "scenarios/mixtral-8x7b-64-h100.yaml --set training.experts.spread=0",
                                     "scenarios/resnet-50-v100.yaml --set data_parallel.overlap=false"}) {
    SCOPED_TRACE(scenario);
    const std::string words = "layouts " + scenario + " --format json --threads ";
    const Outcome one = run_program(words + "1"), four = run_program(words + "4");
    ASSERT_EQ(one.status, 0) << one.err;
    EXPECT_EQ(one.out, four.out);
    const LayoutsJson answer = LayoutsJson::parse(one.out);
    expect_schema(results_schema("layouts"), answer, "layouts");
    int gpus = 0;
    for (const LayoutsJson& stage : answer["stages"]) gpus += stage["gpus"].get<int>();
    EXPECT_EQ(gpus, answer["gpus"]);
    // What docs/layouts.md says of plans that a scenario can say.
    const double step = answer["nearest_plan"]["step_time_s"];
    EXPECT_NEAR(answer["step_time_s"].get<double>() / step, 1, 0.025);
  }
}

TEST_F(LayoutsCommand, SaysWhereNothingFits) {
  LEFT_TO_RELEASE();
  const Outcome outcome = run_program("layouts scenarios/quickstart.yaml --set cluster.node.gpu.memory.size='1 GiB'");
  EXPECT_EQ(outcome.status, 3) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("no layouts fit"));
}

/// Stages that do not fit are named with what they miss.
TEST_F(LayoutsCommand, SaysWhichOfTheStagesAskedForDoNotFit) {
  LEFT_TO_RELEASE();
  const std::string words = "layouts scenarios/quickstart.yaml --stages 93:8,1:8,1:16,1:32 ";
  const Outcome outcome = run_program(words);
  EXPECT_EQ(outcome.status, 3) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("stage 0 misses "), HasSubstr(" on each of its GPUs\n"),
                                 HasSubstr("no layouts fit"), Not(HasSubstr("stage 1 misses"))));
  const LayoutsJson answer = LayoutsJson::parse(run_program(words + "--format json").out);
  expect_schema(results_schema("layouts"), answer, "layouts");
  ASSERT_GE(answer["shortages"].size(), 1u);
  EXPECT_EQ(answer["shortages"][0]["stage"], 0);
  EXPECT_GT(answer["shortages"][0]["missing_bytes"], 0);
}

/// A line of scenarios/alpa/stages.txt.
struct PublishedStages {
  std::string words, stages;
};

PublishedStages stages_published(const std::string& name) {
  std::ifstream file(std::string(STEPCAST_SOURCE_DIR) + "/scenarios/alpa/stages.txt");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string first, scenario, suite;
    PublishedStages found;
    if (!(words >> first >> scenario >> suite >> found.stages) || first != name) continue;
    found.words = "layouts scenarios/alpa/" + scenario;
    for (std::string setting; words >> setting;) found.words += " --set " + setting;
    return found;
  }
  return {};
}

TEST_F(LayoutsCommand, FindsPlansAtLeastAsFastAsAlpas) {
  if (test::kSanitized) GTEST_SKIP() << "HeldStages.* hold stages there";
  for (const char* name : {"gpt-2.6B", "moe-2.4B", "wide-resnet-2B"}) {
    SCOPED_TRACE(name);
    const PublishedStages published = stages_published(name);
    ASSERT_FALSE(published.stages.empty());
    const Outcome held = run_program(published.words + " --format json --stages " + published.stages),
                  found = run_program(published.words + " --format json --groups 96");
    ASSERT_EQ(found.status, 0) << found.err;
    ASSERT_EQ(held.status, 0) << held.err;
    EXPECT_LE(LayoutsJson::parse(found.out)["step_time_s"], LayoutsJson::parse(held.out)["step_time_s"]);
  }
}

TEST(LayoutsCommandErrors, NameTheOptionAndWhatIsAllowed) {
  const auto expect = [](const std::string& words, const auto& matcher) {
    const Outcome outcome = run_program("layouts " + words);
    EXPECT_EQ(outcome.status, 2) << words;
    EXPECT_THAT(outcome.err, matcher);
  };
  expect("scenarios/quickstart.yaml --mesh 8", AllOf(HasSubstr("--mesh"), HasSubstr("AxB")));
  expect("scenarios/quickstart.yaml --mesh ax8", HasSubstr("--mesh"));
  expect("scenarios/quickstart.yaml --stages none", HasSubstr("--stages"));
  for (const char* stages : {"96:", ":64", "96:64:", "96:64:1x64:tokens", "96:64:1x64:samples:more", "48:32,"})
    expect(std::string("scenarios/quickstart.yaml --stages ") + stages,
           AllOf(HasSubstr("--stages"), HasSubstr("LAYERS:GPUS:AxB:samples")));
  expect("scenarios/quickstart.yaml --stages 96:64 --mesh 1x64",
         AllOf(HasSubstr("--stages"), HasSubstr("beside --mesh")));
  expect("scenarios/quickstart.yaml --stages 96:64 --groups 8",
         AllOf(HasSubstr("--stages"), HasSubstr("beside --groups")));
  expect("scenarios/t5-11b.yaml", AllOf(HasSubstr("model.family"), HasSubstr("no layouts")));
  expect("", HasSubstr("no scenario given"));
}

TEST_F(LayoutsCommand, RefusesMeshesAndStagesThatCannotBe) {
  const Outcome mesh = run_program("layouts scenarios/quickstart.yaml --mesh 3x5");
  EXPECT_EQ(mesh.status, 2);
  EXPECT_THAT(mesh.err, AllOf(HasSubstr("--mesh"), HasSubstr("15 GPUs"), HasSubstr("64")));
  const Outcome stages = run_program("layouts scenarios/quickstart.yaml --stages 97");
  EXPECT_EQ(stages.status, 2);
  EXPECT_THAT(stages.err, AllOf(HasSubstr("--stages"), HasSubstr("96 groups")));
  const Outcome layers = run_program("layouts scenarios/quickstart.yaml --stages 48:32,47:32");
  EXPECT_EQ(layers.status, 2);
  EXPECT_THAT(layers.err,
              HasSubstr("--stages: found 95 layers in all, expected the model's 96; the last stage would have 48"));
}

}  // namespace
}  // namespace stepcast::app
