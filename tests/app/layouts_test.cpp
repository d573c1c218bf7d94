// `stepcast layouts` and docs/layouts.md, of which STEPCAST_UPDATE_GOLDEN=1 app_tests --gtest_filter='LayoutsCommand*'
// rewrites the example.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
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
  const Outcome outcome = run_program("layouts scenarios/quickstart.yaml");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  std::string block = "\n";
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) block += line.empty() ? "\n" : "    " + line + "\n";
  expect_block("docs/layouts.md", "layouts", block + "\n");
}

TEST_F(LayoutsCommand, FollowsItsSchemaAndIsTheSameOnAnyThreads) {
  if (test::kSanitized) GTEST_SKIP() << "LayoutsCommand.PrintsWhatItsPageShows runs the same";
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
  const Outcome outcome = run_program("layouts scenarios/quickstart.yaml --set cluster.node.gpu.memory.size='1 GiB'");
  EXPECT_EQ(outcome.status, 3) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("no layouts fit"));
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
}

}  // namespace
}  // namespace stepcast::app
