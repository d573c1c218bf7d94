#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/app/program.h"
#include "tests/app/schema.h"
#include "tests/sanitized.h"

namespace stepcast::app {
namespace {

using Json = nlohmann::json;

TEST(Explain, AttributesAPublishedRowToItsPhases) {
  if (stepcast::test::kSanitized) GTEST_SKIP() << "the tests beside it go the same ways with fewer rows";
  const Outcome outcome = run_program("validate --explain KOR-0002 --format json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const Json why = Json::parse(outcome.out);
  expect_schema(results_schema("explain"), why, "explain");
  double gaps = 0;
  for (const Json& phase : why["phases"]) gaps += phase["gap_s"].get<double>();
  EXPECT_EQ(why["phases"].size(), 3u);  // table 4 states a layer's forward and backward
  EXPECT_NEAR(gaps, why["measured_s"].get<double>() - why["predicted_s"].get<double>(), 1e-9);
}

TEST(Explain, NamesATermThatIsWrongInEveryRow) {
  LEFT_TO_RELEASE();
  const std::string rows = testing::TempDir() + "explain-planted.csv";
  std::string table =
      "name,cluster.node,cluster.gpus,model.base,training.global_batch,training.micro_batch,"
      "training.sequence,parallelism.tensor,parallelism.pipeline,software,measured.step_time\n";
  const auto row = [](int i, const std::string& plan) { return "row-" + std::to_string(i) + ",dgx-a100-80gb," + plan; };
  const std::vector<std::string> plans{"8,llama2-7b,64,1,2048,8,1", "16,llama2-7b,64,2,2048,2,2",
                                       "32,llama2-7b,64,1,2048,4,4", "8,llama2-7b,32,1,2048,2,4"};
  std::string unmeasured = table;
  for (int i = 0; i < 4; ++i) unmeasured += row(i, plans[static_cast<std::size_t>(i)]) + ",megatron-core,1 s\n";
  std::ofstream(rows) << unmeasured;
  const Json truth = Json::parse(run_program("run '" + rows + "' --format json").out);
  for (int i = 0; i < 4; ++i)
    table += row(i, plans[static_cast<std::size_t>(i)]) + ",megatron-core," +
             std::to_string(truth["results"][static_cast<std::size_t>(i)]["step_time_s"].get<double>()) + " s\n";
  std::ofstream(rows) << table;
  const Outcome outcome =
      run_program("validate '" + rows + "' --explain row-1 --set software.elementwise_efficiency=0.6");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("most likely memory-bound kernels"), std::string::npos) << outcome.out;
}

TEST(Explain, ANameOfTwoRowsIsAnError) {
  const std::string rows = testing::TempDir() + "explain-twice.csv";
  std::ofstream(rows) << "name,base,measured.step_time\n"
                      << "twice," STEPCAST_SOURCE_DIR "/scenarios/quickstart.yaml,1 s\n"
                      << "twice," STEPCAST_SOURCE_DIR "/scenarios/quickstart.yaml,2 s\n";
  const Outcome outcome = run_program("validate '" + rows + "' --explain twice");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find("--explain: found 2 rows named 'twice', the first "), std::string::npos) << outcome.err;
}

TEST(Explain, SaysWhichRowsThereAre) {
  const std::string command = "validate scenarios/published/korthikanti_2205_05198.csv --explain ";
  const Outcome unknown = run_program(command + "KOR-0022");
  EXPECT_EQ(unknown.status, 2);
  EXPECT_NE(unknown.err.find("did you mean 'KOR-0002'?"), std::string::npos) << unknown.err;
  EXPECT_EQ(run_program(command + "KOR-0002 --format csv").status, 2);
}

}  // namespace
}  // namespace stepcast::app
