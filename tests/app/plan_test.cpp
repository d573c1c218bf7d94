// stepcast plan from the command line.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/app/program.h"
#include "tests/app/schema.h"
#include "tests/sanitized.h"

namespace stepcast::app {
namespace {

using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

constexpr const char* kRun = "plan scenarios/gpt3-175b-1024-a100.yaml ";
constexpr const char* kFailures =
    "--set 'run.failures.gpu_mtbf=50000 h' --set 'run.failures.restart=10 min' --set 'checkpoint.bandwidth=100 GB/s' ";
constexpr const char* kCosts =
    "--set 'run.gpu_hour_price=2 USD' --set 'run.power.computing=400 W' --set 'run.power.waiting=250 W' --set "
    "'run.power.idle=60 W' --set run.critical_batch=1500 ";

Json answer_to(const std::string& words) {
  const Outcome outcome = run_program(words + " --format json");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  Json all = Json::parse(outcome.out);
  expect_schema(results_schema("plan"), all, "plan");
  return all["runs"];
}

TEST(PlanCommand, CountsAPartOfASample) {
  const Outcome outcome = run_program(std::string(kRun) + "--set run.tokens=1000");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("1,000 tokens, 0.49 samples\n"));
}

TEST(PlanCommand, AsksForWhatItDoesNotKnowAndInventsNothing) {
  const Json run = answer_to(kRun)[0];
  for (const char* key : {"failures", "energy_kwh", "money", "currency", "checkpoint_steps", "best_interval_s"})
    EXPECT_TRUE(run["plan"][key].is_null()) << key;
  std::vector<std::string> about;
  for (const Json& open : run["open"]) {
    about.push_back(open["about"]);
    for (const Json& key : open["keys"]) EXPECT_THAT(key.get<std::string>(), testing::ContainsRegex("run|checkpoint"));
  }
  EXPECT_EQ(about, (std::vector<std::string>{"failures", "energy", "money", "batch"}));
  EXPECT_EQ(run["plan"]["goodput"], 1.0);
  // Break-even: what a price of 1 would come to.
  const std::string table = run_program(kRun).out;
  EXPECT_THAT(table, HasSubstr(fmt::format("makes {:.0f}", run["plan"]["gpu_hours"].get<double>())));
  EXPECT_THAT(table, HasSubstr("say run.gpu_hour_price"));
}

TEST(PlanCommand, SaysNothingIsOpenWhereAllIsKnown) {
  const Json run = answer_to(std::string(kRun) + kFailures + kCosts)[0];
  EXPECT_EQ(run["open"], Json::array());
  const Json& plan = run["plan"];
  EXPECT_NEAR(plan["time_s"].get<double>(),
              plan["useful_s"].get<double>() + plan["checkpoints_s"].get<double>() + plan["lost_s"].get<double>() +
                  plan["restarts_s"].get<double>(),
              1e-6 * plan["time_s"].get<double>());
  EXPECT_NEAR(plan["money"].get<double>(), 2 * plan["gpu_hours"].get<double>(), 1);
  EXPECT_EQ(plan["currency"], "USD");
  const double mean_power = plan["energy_kwh"].get<double>() / plan["gpu_hours"].get<double>() * 1000;
  EXPECT_GT(mean_power, 250);
  EXPECT_LT(mean_power, 400);
  EXPECT_LT(run["low_s"], run["high_s"]);
  const Json& batches = run["batches"];
  EXPECT_EQ(batches["least_time"], batches["least_money"]);
  EXPECT_THAT(run_program(std::string(kRun) + kFailures + kCosts).out, Not(HasSubstr("not known")));
}

TEST(PlanCommand, ATargetTakesThePlaceOfAnother) {
  const Json plan = answer_to(std::string(kRun) + "--set run.samples=1536000 --set measured.run_time=")[0]["plan"];
  EXPECT_EQ(plan["steps"], 1000);
  EXPECT_EQ(plan["tokens"], 1536000.0 * 2048);
  EXPECT_NEAR(plan["time_s"].get<double>(), 1000 * plan["step_time_s"].get<double>(), 1e-6);
}

TEST(PlanCommand, SimulatedFailuresTakeTheTimeThatIsExpected) {
  const std::string words = std::string(kRun) + kFailures + "--simulate-failures 300 ";
  const Json run = answer_to(words)[0];
  EXPECT_NEAR(run["simulated"]["mean_s"].get<double>(), run["plan"]["time_s"].get<double>(),
              3 * run["simulated"]["standard_error_s"].get<double>());
  EXPECT_EQ(answer_to(words)[0], run);
  EXPECT_NE(answer_to(words + "--seed 2")[0]["simulated"], run["simulated"]);
}

TEST(PlanCommand, TheSameBytesOnAnyNumberOfThreads) {
  LEFT_TO_RELEASE();
  for (const char* format : {"table", "csv", "json"}) {
    const std::string words = std::string(kRun) + kCosts + "--gpus 512,1024 --format " + format + " --threads ";
    EXPECT_EQ(run_program(words + "1").out, run_program(words + "3").out) << format;
  }
}

TEST(PlanCommand, MoreGpusTradeMoneyForTime) {
  const Json batches =
      answer_to("plan scenarios/resnet-50-p100-256.yaml --set run.batch_limit=8192 --gpus 8,64,256")[0]["batches"];
  const Json &fast = batches["plans"][batches["least_time"].get<std::size_t>()],
             &cheap = batches["plans"][batches["least_money"].get<std::size_t>()];
  EXPECT_EQ(fast["gpus"], 256);
  EXPECT_EQ(cheap["gpus"], 8);
  EXPECT_LT(cheap["gpu_hours"], fast["gpu_hours"]);
  for (const Json& plan : batches["plans"]) EXPECT_LE(plan["batch"], 8192);
}

TEST(PlanCommand, SaysWhichNumbersOfGpusAreLeftOutAndWhy) {
  const std::string words = std::string(kRun) + "--gpus 1000,1024,2560";
  const Json batches = answer_to(words)[0]["batches"];
  ASSERT_EQ(batches["left_out"].size(), 2u);
  EXPECT_EQ(batches["left_out"][0]["gpus"], 1000);
  EXPECT_THAT(batches["left_out"][0]["why"].get<std::string>(), HasSubstr("which does not divide them"));
  EXPECT_THAT(batches["left_out"][1]["why"].get<std::string>(), HasSubstr("no batch that was tried is a multiple of"));
  EXPECT_THAT(run_program(words).out, HasSubstr("1,000 GPUs are left out: one copy of the model takes"));
  const std::string csv = run_program(words + " --format csv").out;
  EXPECT_THAT(csv, HasSubstr(",1000,,"));
  EXPECT_THAT(csv, HasSubstr("which does not divide them"));
}

TEST(PlanCommand, ATableIsARunInEachRowAndSaysWhichCannotBePlanned) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "runs";
  std::filesystem::create_directories(folder);
  const std::string file = (folder / "runs.csv").string();
  std::ofstream(file) << "name,cluster.node,model,training.global_batch,training.micro_batch,training.sequence,"
                         "run.tokens,run.failures.gpu_mtbf,run.failures.restart,checkpoint.bandwidth\n"
                         "a,dgx-a100-80gb,gpt2-124m,64,8,1024,1e10,,,\n"
                         "b,dgx-a100-80gb,gpt2-124m,64,8,1024,,,,\n"
                         "c,dgx-a100-80gb,gpt2-124m,64,8,1024,1e10,1 s,10 s,1 GB/s\n";
  const Outcome outcome = run_program("plan --format csv " + file);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, HasSubstr("2 of 3 rows could not be run"));
  EXPECT_THAT(outcome.out, HasSubstr("run.tokens: missing, expected one of run.tokens, run.samples and run.epochs"));
  EXPECT_THAT(outcome.out, HasSubstr("it would take more than a thousand years"));
  EXPECT_THAT(outcome.out, HasSubstr("\na,8,64,"));
}

TEST(PlanCommand, APlanThatDoesNotFitHasAnExitStatusOfItsOwn) {
  const Outcome outcome = run_program(
      "plan scenarios/well-known/opt-175b-992-a100.yaml --set run.tokens=300e9 --set "
      "software.partition_activations=false");
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.out, HasSubstr("out of memory"));
  EXPECT_THAT(outcome.out, HasSubstr("GPU-hours"));
}

TEST(PlanCommand, BadWordsAreToldWithWhatIsAllowed) {
  const auto refused = [](const std::string& words, const std::string& why) {
    if (test::passed_over()) return;
    const Outcome outcome = run_program("plan " + words);
    EXPECT_EQ(outcome.status, 2) << words;
    EXPECT_THAT(outcome.err, HasSubstr(why)) << words;
    EXPECT_EQ(outcome.out, "") << words;
  };
  const std::string run = "scenarios/gpt3-175b-1024-a100.yaml ";
  refused("", "no scenario given");
  refused("scenarios/quickstart.yaml", "run.tokens: missing, expected one of run.tokens, run.samples and run.epochs");
  refused("scenarios/quickstart.yaml --set run.tokens=1e9 --set run.samples=5", "run.tokens: found beside run.samples");
  refused(run + "--set run.tokens=15T", "found '15T', expected a number");
  refused(run + "--set run.gpu_hour_price=2", "expected a number above zero and a currency, such as '2.5 USD'");
  refused(run + "--set 'run.gpu_hour_price=0 USD'", "expected a number above zero and a currency");
  refused(run + "--set 'run.power.computing=400'", "expected a power above zero with its unit, such as '700 W'");
  refused(run + "--set 'run.power.computing=400 watt'", "did you mean '400 W'?");
  refused(run + "--set 'run.failures.gpu_mtbf=5 d'", "did you mean '5 days'?");
  refused(run + "--set run.power.usage_effectiveness=0.9", "expected a number from 1 to 10");
  refused(run + "--set run.epochs=90 --set run.tokens=", "run.dataset_samples: missing, with run.epochs");
  refused(run + "--set 'run.gpu_hour_price=2 USD' --set 'run.kilowatt_hour_price=1 EUR'",
          "found EUR, but run.gpu_hour_price is in USD");
  refused(run + "--set run.critical_batch=0", "expected a whole number of at least 1");
  refused(run + "--set run.batch_limit=512", "batch_limit 512 is below training.global_batch 1536");
  refused(run + "--set run.batch_limit=2048 --set run.target_batch=4096", "below run.target_batch 4096");
  refused(run + kFailures + "--set 'run.failures.gpu_mtbf=1 h'", "it would take more than a thousand years");
  refused(run + "--simulate-failures 100", "nothing is known of failures, expected run.failures.gpu_mtbf");
  refused(run + kFailures + "--simulate-failures 1", "found 1, expected at least 2 runs");
  refused(run + "--seed 5", "expected --simulate-failures beside it");
  refused(run + "--gpus 8,x", "--gpus");
  refused(run + "--gpus 8,,16", "expected A,B,...: whole numbers");
  refused("scenarios/resnet-50-v100.yaml --set run.tokens=1e9", "samples of this model have no tokens");
  refused("scenarios/quickstart.yaml --set 'checkpoint.bandwidth=1 GB/s'", "checkpoint.every: missing");
}

}  // namespace
}  // namespace stepcast::app
