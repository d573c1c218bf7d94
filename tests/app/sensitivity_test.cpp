// `stepcast sensitivity` and docs/sensitivity.md, of which STEPCAST_UPDATE_GOLDEN=1 app_tests
// --gtest_filter='SensitivityCommand*' rewrites the table.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "schedules/results/time_parts.h"
#include "search/resource.h"
#include "tests/app/page_block.h"
#include "tests/app/program.h"
#include "tests/app/schema.h"
#include "tests/sanitized.h"

namespace stepcast::app {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

constexpr const char* kQuickstartSensitivity = "sensitivity scenarios/quickstart.yaml";

TEST(SensitivityCommand, PrintsWhatItsPageShows) {
  const Outcome outcome = run_program(kQuickstartSensitivity);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  std::string block = "\n";
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) block += line.empty() ? "\n" : "    " + line + "\n";
  expect_block("docs/sensitivity.md", "sensitivity", block + "\n");
  std::string rows;
  for (const search::RatedResource& each : search::resources())
    rows += fmt::format("| `{}` | {} |\n", each.name, each.meaning);
  expect_block("docs/sensitivity.md", "resources", rows);
}

TEST(SensitivityCommand, SaysWhereABetterResourceMakesTheStepLonger) {
  if (test::kSanitized) GTEST_SKIP() << "many large steps";
  const std::string file = std::filesystem::temp_directory_path() / "over_nodes.yaml";
  std::ofstream(file) << "cluster: {node: dgx-h100, nodes: 4, nic_bandwidth: 319 Gbit/s}\n"
                         "model: opt-1.3b\n"
                         "training: {global_batch: 64, micro_batch: 1, sequence: 2048, precision: bf16}\n"
                         "parallelism: {tensor: 32}\n"
                         "software: megatron-core\n";
  EXPECT_THAT(run_program("sensitivity " + file).out,
              HasSubstr("\na better network makes the step longer: NCCL picks algorithms by its own model of rates, "));
  EXPECT_THAT(run_program("sensitivity " + file + " --set software.transport.as_nccl_picks=false").out,
              Not(HasSubstr("network makes the step longer")));
}

TEST(SensitivityCommand, FollowsItsSchemaAndIsTheSameOnAnyThreads) {
  const std::string words = std::string(kQuickstartSensitivity) + " --price network=1000 --format json --threads ";
  const Outcome one = run_program(words + "1"), four = run_program(words + "4");
  ASSERT_EQ(one.status, 0) << one.err;
  EXPECT_EQ(one.out, four.out);
  const Json answer = Json::parse(one.out);
  expect_schema(results_schema("sensitivity"), answer, "sensitivity");
  const Json run = Json::parse(run_program("run scenarios/quickstart.yaml --format json").out)["results"][0];
  EXPECT_EQ(answer["step_time_s"], run["step_time_s"]);
  double path = 0, sum = 0;
  for (const Json& part : answer["critical_path"]) path += part.get<double>();
  EXPECT_NEAR(path, 1, 1e-9);
  for (const Json& each : answer["resources"]) {
    sum += each["elasticity"].get<double>();
    if (each["resource"] != "network") {
      EXPECT_TRUE(each["price_per_second"].is_null());
      continue;
    }
    const double saved = answer["step_time_s"].get<double>() - each["better_step_time_s"].get<double>();
    EXPECT_NEAR(each["price_per_second"].get<double>(), 1000 / saved, 1e-6 * 1000 / saved);
  }
  EXPECT_NEAR(answer["sum"].get<double>(), sum, 1e-12);
}

/// Scenarios of offloading, checkpoints, input, slow GPUs, PCIe boxes, two kinds of GPUs, TPUs, compression, networks.
TEST(SensitivityCommand, AllResourcesTogetherAreTheWholeStep) {
  for (const char* scenario :
       {"alexnet-one-weird-trick", "bert-large-top-k", "gpt-1.3b-local-sgd", "gpt-1.3b-pcie-box", "gpt-1.3b-straggler",
        "gpt-10b-zero-offload", "k80-v100-pair", "llama2-7b-checkpoints", "llama2-7b-zero3", "mixtral-8x7b-64-h100",
        "gpt-30b-dualpipe", "mlp", "operators", "pipeline-schedules", "resnet-50-v100", "vit-h-14",
        "well-known/maxtext-32b-256-tpu-v5e"}) {
    if (test::kSanitized && scenario != std::string_view("mlp")) continue;
    const Outcome outcome = run_program("sensitivity scenarios/" + std::string(scenario) + ".yaml --format json");
    ASSERT_EQ(outcome.status, 0) << scenario << outcome.err;
    const Json answer = Json::parse(outcome.out);
    EXPECT_NEAR(answer["together"]["elasticity"].get<double>(), -1, 1e-3) << scenario;
    EXPECT_NEAR(answer["left"].get<double>(),
                answer["together"]["elasticity"].get<double>() - answer["sum"].get<double>(), 1e-12);
    EXPECT_NEAR(answer["sum"].get<double>(), -1, 5e-3) << scenario;
    if (answer["critical_path"].is_null()) continue;
    double path = 0;
    for (const Json& part : answer["critical_path"]) path += part.get<double>();
    EXPECT_NEAR(path, 1, 1e-9) << scenario;
    EXPECT_EQ(answer["critical_path"]["bubble"].get<double>() + answer["critical_path"]["idle"].get<double>(), 0);
  }
}

TEST(SensitivityCommand, APlanThatDoesNotFitIsAnExitStatusOfItsOwn) {
  const Outcome outcome =
      run_program(std::string(kQuickstartSensitivity) + " --set recompute=none --set training.micro_batch=8");
  EXPECT_EQ(outcome.status, 3) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("does not fit"));
}

TEST(SensitivityCommand, WritesRowsAndBars) {
  const Outcome csv = run_program(std::string(kQuickstartSensitivity) + " --format csv");
  ASSERT_EQ(csv.status, 0);
  EXPECT_TRUE(csv.out.starts_with("resource,rated_at,rated_in,elasticity,"));
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("stepcast-bars-" + std::to_string(getpid()) + ".svg");
  ASSERT_EQ(run_program(std::string(kQuickstartSensitivity) + " --plot " + file.string()).status, 0);
  const std::string svg = read_text(file.string());
  for (const char* shown : {"<svg", "gpu_flops", "network_latency", "</svg>"}) EXPECT_THAT(svg, HasSubstr(shown));
  std::filesystem::remove(file);
}

TEST(SensitivityCommand, BadWordsAreToldWithWhatIsAllowed) {
  const auto refused = [](const std::string& words, const std::string& why) {
    if (test::passed_over()) return;
    const Outcome outcome = run_program(words);
    EXPECT_EQ(outcome.status, 2) << words;
    EXPECT_THAT(outcome.err, HasSubstr(why)) << words;
    EXPECT_EQ(outcome.out, "");
  };
  const std::string start = kQuickstartSensitivity;
  refused("sensitivity", "no scenario given");
  refused("sensitivity scenarios/textbook", "scenarios, expected one");
  refused(start + " --price nvlin=3", "did you mean 'nvlink'");
  refused(start + " --price network", "expected RESOURCE=MONEY");
  refused(start + " --price network=cheap", "expected a number above 0");
  refused(start + " --price network=0", "expected a number above 0");
  refused(start + " --price network=nan", "expected a number above 0");
  refused(start + " --price storage=1", "found storage, which this scenario has not");
  refused(start + " --price network=1 --price network=2", "said twice");
  refused(start + " --plot bars.gif", "bars.gif");
  refused(start + " --format jsonl", "expected one of table, json, csv");
}

}  // namespace
}  // namespace stepcast::app
