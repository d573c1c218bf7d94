// stepcast search from the command line.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "search/axis.h"
#include "tests/app/page_block.h"
#include "tests/app/program.h"
#include "tests/app/schema.h"
#include "tests/app/script.h"
#include "tests/sanitized.h"

namespace stepcast::app {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

constexpr const char* kSmall =
    "search scenarios/quickstart.yaml --set model.layers=8 --set training.global_batch=16 --set "
    "pipeline.virtual_stages=1 "
    "--set pipeline.schedule=1f1b --fix parallelism.context";

/// Leaves some hundred plans of spaces that have tens of thousands.
constexpr const char* kOfHundreds = "--fix training.micro_batch --fix data_parallel.zero --fix parallelism.sequence";

Json without_seconds(const std::string& text) {
  Json answer = Json::parse(text);
  answer.erase("seconds");
  answer.erase("screening_seconds");
  return answer;
}

TEST(SearchCommand, AnswersTheSameOnAnyNumberOfThreads) {
  LEFT_TO_RELEASE();
  const std::string words = std::string(kSmall) + " --front --format json --threads ";
  const Outcome one = run_program(words + "1"), four = run_program(words + "4");
  ASSERT_EQ(one.status, 0) << one.err;
  expect_schema(results_schema("search"), Json::parse(one.out), "search");
  const Json answer = without_seconds(one.out);
  EXPECT_EQ(answer, without_seconds(four.out));
  EXPECT_EQ(answer["plans"].size(), 10u);
  EXPECT_EQ(answer["gap"], 0.0);
  EXPECT_LT(answer["simulated"], answer["screened"]);
  for (const Json& plan : answer["plans"]) {
    EXPECT_LE(plan["bound_s"], plan["step_time_s"]);
    double shares = 0;
    for (const Json& share : plan["shares"]) shares += share.get<double>();
    EXPECT_NEAR(shares, 1, 1e-9);
  }
  EXPECT_EQ(run_program(std::string(kSmall) + " --threads 1").out,
            run_program(std::string(kSmall) + " --threads 3").out);
}

TEST(SearchCommand, ExhaustiveSaysTheSamePlans) {
  if (stepcast::test::kSanitized) GTEST_SKIP() << "Search.PrunedFindsWhatExhaustiveFindsInRandomSpaces does it";
  const Json pruned = without_seconds(run_program(std::string(kSmall) + " --format json").out),
             all = without_seconds(run_program(std::string(kSmall) + " --format json --exhaustive").out);
  ASSERT_EQ(pruned["plans"].size(), all["plans"].size());
  for (std::size_t i = 0; i < all["plans"].size(); ++i) {
    EXPECT_EQ(pruned["plans"][i]["settings"], all["plans"][i]["settings"]);
    EXPECT_EQ(pruned["plans"][i]["step_time_s"], all["plans"][i]["step_time_s"]);
  }
  EXPECT_EQ(all["bounded"], 0);
  EXPECT_GT(pruned["bounded"], 0);
}

TEST(SearchCommand, ABudgetLeavesACertifiedGap) {
  const Json answer = Json::parse(run_program(std::string(kSmall) + " --format json --budget 1").out);
  EXPECT_EQ(answer["simulated"], 1);
  EXPECT_GT(answer["left"], 0);
  EXPECT_GE(answer["gap"].get<double>(), 0);
}

/// A search of minutes that gets the signal once it simulates plans: its status line of a log says so.
std::string stopped_by(const std::string& signal) {
  return "mkfifo progress && exec 3<>progress\n"
         "STEPCAST_PROGRESS=0 env --default-signal=" +
         signal + " \"$stepcast\" search '" STEPCAST_SOURCE_DIR "/scenarios/gpt3-175b-1024-a100.yaml' " + kOfHundreds +
         " --exhaustive --format json >answer 2>progress &\n"
         "while read -r line <&3; do [[ $line == simulating* && $line != *': 0 of'* ]] && break; done\n"
         "kill -" +
         signal + " $!\nwait $!\necho $?\ncat answer";
}

TEST(SearchCommand, ThatASignalEndsSaysTheBestSoFar) {
  for (const auto& [signal, status] : {std::pair("INT", 130), std::pair("TERM", 143)}) {
    if (stepcast::test::kSanitized && status != 130) continue;  // as slow, and the same but for the number
    const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "stopped-search";
    std::filesystem::remove_all(folder);
    std::filesystem::create_directory(folder);
    const Outcome outcome = run_script(stopped_by(signal), folder);
    const std::size_t end = outcome.out.find('\n');
    EXPECT_EQ(outcome.out.substr(0, end), std::to_string(status)) << outcome.err;
    const Json answer = Json::parse(outcome.out.substr(end));
    expect_schema(results_schema("search"), answer, "search");
    EXPECT_TRUE(answer["stopped"]);
    EXPECT_GT(answer["left"], 0);
    EXPECT_FALSE(answer["plans"].empty());
    EXPECT_GE(answer["gap"].get<double>(), 0);
    std::filesystem::remove_all(folder);
  }
}

TEST(SearchCommand, TheEmittedPlanRunsInTheTimeFound) {
  LEFT_TO_RELEASE();
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "emitted";
  std::filesystem::create_directories(folder);
  const std::string file = (folder / "best.yaml").string();
  std::vector<std::string> names{"pipeline-by-hand"};
  if (!stepcast::test::kSanitized)
    names.insert(names.end(), {"quickstart", "mixtral-8x7b-64-h100", "llama2-70b-recompute-some"});
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    const std::string scenario = fmt::format("scenarios/{}.yaml --budget 1 {}", name, kOfHundreds);
    const Outcome found = run_program(fmt::format("search {} --top 1 --format json", scenario));
    ASSERT_EQ(found.status, 0) << found.err;
    const Outcome written = run_program(fmt::format("search {} --emit yaml --output {}", scenario, file));
    ASSERT_EQ(written.status, 0) << written.err;
    const Outcome run = run_program("run --format json " + file);
    ASSERT_EQ(run.status, 0) << run.err << read_text(file);
    EXPECT_EQ(Json::parse(run.out)["results"][0]["step_time_s"], Json::parse(found.out)["plans"][0]["step_time_s"]);
    EXPECT_THAT(read_text(file), Not(HasSubstr("measured")));
  }
}

TEST(SearchCommand, AnEmittedPlanNamesFilesFromWhereItStands) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "emitted-paths";
  std::filesystem::create_directories(folder / "plans");
  std::ofstream(folder / "ours.yaml") << "base: dgx-a100-80gb\n";
  std::ofstream(folder / "job.yaml") << "cluster: {node: ./ours.yaml, nodes: 1}\nmodel: gpt2-355m\n"
                                        "training: {global_batch: 64, micro_batch: 1, sequence: 1024}\n"
                                        "pipeline: {schedule: gpipe}\nparallelism: {pipeline: 2}\n";
  const std::string file = (folder / "plans/best.yaml").string();
  const Outcome found =
      run_program("search " + (folder / "job.yaml").string() +
                  " --set pipeline.schedule= --over parallelism.tensor=1 --budget 1 --emit yaml --output " + file);
  ASSERT_EQ(found.status, 0) << found.err;
  EXPECT_THAT(read_text(file), HasSubstr("node: \"../ours.yaml\"\n"));
  EXPECT_THAT(read_text(file), Not(HasSubstr("pipeline: {}")));
  EXPECT_EQ(run_program("run " + file).status, 0) << read_text(file);
}

TEST(SearchCommand, LayersCutByTheirTimesAreSaidAndRunAgain) {
  LEFT_TO_RELEASE();
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "cut";
  std::filesystem::create_directories(folder);
  const std::string file = (folder / "best.yaml").string();
  const std::string words =
      "search scenarios/quickstart.yaml --set model.layers=60 --set model.vocab=256000 --set pipeline.virtual_stages=1 "
      "--set pipeline.schedule=1f1b --set recompute=full --fix recompute --fix pipeline.schedule --fix "
      "pipeline.virtual_stages --over parallelism.pipeline=8 --over parallelism.layers_per_stage=balanced --top 1 ";
  const Outcome found = run_program(words + "--format json");
  ASSERT_EQ(found.status, 0) << found.err;
  const Json plan = Json::parse(found.out)["plans"][0];
  const std::vector<int> layers = plan["settings"]["parallelism.layers_per_stage"];
  ASSERT_EQ(layers.size(), 8u);
  EXPECT_EQ(std::accumulate(layers.begin(), layers.end(), 0), 60);
  EXPECT_LT(layers.back(), 7);
  ASSERT_EQ(run_program(words + "--emit yaml --output " + file).status, 0);
  const Outcome run = run_program("run --format json " + file);
  ASSERT_EQ(run.status, 0) << run.err << read_text(file);
  EXPECT_EQ(Json::parse(run.out)["results"][0]["step_time_s"], plan["step_time_s"]);
  // In a table runs of equal numbers are short, in CSV all stand there.
  EXPECT_THAT(run_program(words).out, Not(HasSubstr("8, 8, 8")));
  EXPECT_THAT(run_program(words + "--format csv").out, HasSubstr(fmt::format("\"[{}]\"", fmt::join(layers, ", "))));
}

/// Who asks which plan is best need not bring one: neither a micro-batch nor sizes that the batch can be divided among.
TEST(SearchCommand, StartsFromAScenarioThatLeavesItsPlanOpen) {
  const std::string file = testing::TempDir() + "open.yaml";
  const auto write = [&](const std::string& training) {
    std::ofstream(file) << "cluster: {node: dgx-h100}\nmodel: {base: llama2-7b, layers: 4}\ntraining: {" << training
                        << ", sequence: 2048}\n";
  };
  const std::string words =
      "search " + file + " --format json --over training.micro_batch=1,2 --over parallelism.tensor=1,2,4,8 ";
  write("global_batch: 4");
  const Outcome open = run_program(words);
  ASSERT_EQ(open.status, 0) << open.err;
  EXPECT_THAT(open.err, HasSubstr("with training.micro_batch=1 parallelism.tensor=2 parallelism.pipeline=1\n"));
  write("global_batch: 4, micro_batch: 2");
  const Outcome half = run_program(words);
  ASSERT_EQ(half.status, 0) << half.err;
  EXPECT_THAT(half.err, HasSubstr("with parallelism.tensor=4 parallelism.pipeline=1\n"));
  EXPECT_EQ(Json::parse(open.out)["plans"][0]["step_time_s"], Json::parse(half.out)["plans"][0]["step_time_s"]);
  // What is said stays.
  const Outcome said = run_program(words + "--set parallelism.data=8");
  EXPECT_EQ(said.status, 2);
  EXPECT_THAT(said.err, HasSubstr("parallelism.data: global_batch 4 is not a multiple of"));
  const Outcome wrong = run_program(words + "--set training.global_batch=0");
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("training.global_batch: found '0'"));
}

TEST(SearchCommand, NoPlanThatFitsIsAnExitStatusOfItsOwn) {
  const Outcome outcome = run_program(
      "search scenarios/quickstart.yaml --set cluster.nodes=1 --set parallelism.pipeline=1 --set "
      "pipeline.virtual_stages=1 --set pipeline.schedule=1f1b --fix parallelism.context");
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.out, HasSubstr("no plan of the space fits"));
  EXPECT_THAT(outcome.out, HasSubstr("misses"));
}

TEST(SearchCommand, OfOneGpuWithItsOptimizerOnTheHostFindsThePlanThatFits) {
  const Outcome outcome = run_program("search scenarios/gpt-10b-zero-offload.yaml --top 1 --format json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const Json answer = Json::parse(outcome.out);
  ASSERT_FALSE(answer["own_step_time_s"].is_null());
  EXPECT_LE(answer["plans"][0]["step_time_s"], answer["own_step_time_s"]);
  EXPECT_EQ(answer["plans"][0]["settings"]["data_parallel.zero"], 2);
}

TEST(SearchCommand, SaysWhatKeepsPlansFromRunning) {
  const Outcome outcome = run_program(
      "search scenarios/gpt-1.3b-pcie-box.yaml --set cluster.node=pcie-4x4090 --over cluster.gpus=8 --fix recompute "
      "--fix parallelism.context");
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.out, HasSubstr("that the cluster cannot carry (the first: pcie-4x4090: 2 nodes"));
}

TEST(SearchCommand, PlansThatFitAndAreSlowerThanAskedAreSaidToBe) {
  const Outcome outcome = run_program(std::string(kSmall) + " --within '1 ms'");
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.out, HasSubstr("no plan of the space that fits is as fast as asked"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("misses")));
}

TEST(SearchCommand, FindsPlansWhoseGpusHoldNoMoreMemoryThanAsked) {
  const std::string words = std::string(kSmall) + " --top 3 --format json --within ";
  const Json all = Json::parse(run_program(words + "'100 s'").out);
  const std::int64_t most = all["plans"][0]["peak_memory_bytes"].get<std::int64_t>() - 1;
  const Json less = Json::parse(run_program(words + "'" + std::to_string(most) + " B, 100 s'").out);
  ASSERT_EQ(less["plans"].size(), 3u);
  for (const Json& plan : less["plans"]) EXPECT_LE(plan["peak_memory_bytes"], most);
  EXPECT_GT(less["plans"][0]["step_time_s"], all["plans"][0]["step_time_s"]);
  const Outcome none = run_program(std::string(kSmall) + " --within '1 GiB'");
  EXPECT_EQ(none.status, 3);
  EXPECT_THAT(none.out, HasSubstr("\nthe nearest of those that do not fit misses "));
  EXPECT_THAT(run_program(std::string(kSmall) + " --within '10 m'").err,
              HasSubstr("--within: found '10 m', expected a time such as '10 s' or memory such as '60 GiB'"));
  EXPECT_THAT(run_program(std::string(kSmall) + " --within '10 s,9 s'").err,
              HasSubstr("expected one time and one size of memory at most"));
}

/// The point of a value in an answer of --until.
Json point_of(const Json& answer, double value) {
  for (const Json& point : answer["points"])
    if (point["value"] == value) return point;
  return {};
}

double fastest_step(const std::string& words) {
  const Json answer = Json::parse(run_program(kSmall + words + " --top 1 --format json").out);
  return answer["plans"].empty() ? 1e9 : answer["plans"][0]["step_time_s"].get<double>();
}

TEST(SearchCommand, TheLeastMemoryIsAnEdgeThatSearchesOfItsTwoSidesSee) {
  if (test::kSanitized) GTEST_SKIP() << "many searches, as the tests beside it do once";
  const std::string words = std::string(kSmall) + " --until 'step_time<420 ms' --least memory --format json --threads ";
  const Outcome one = run_program(words + "1");
  ASSERT_EQ(one.status, 0) << one.err;
  EXPECT_EQ(one.out, run_program(words + "3").out);
  const Json answer = Json::parse(one.out);
  expect_schema(results_schema("search_until"), answer, "search_until");
  constexpr double kGibibyte = 1 << 30;
  const double least = answer["value"];
  EXPECT_TRUE(answer["monotone"].get<bool>());
  for (const double side : {least, least - kGibibyte}) {
    const Json point = point_of(answer, side);
    const double step = fastest_step(fmt::format(" --set 'cluster.node.gpu.memory.size={} GiB'", side / kGibibyte));
    EXPECT_EQ(point["step_time_s"], step);
    EXPECT_EQ(point["met"], side == least);
    EXPECT_EQ(step < 0.42, side == least);
  }
}

TEST(SearchCommand, TheFewestGpusAreThoseBelowWhichAllFail) {
  LEFT_TO_RELEASE();
  const Outcome outcome =
      run_program(std::string(kSmall) + " --until 'step_time<700ms' --least cluster.gpus --format json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const Json answer = Json::parse(outcome.out);
  EXPECT_EQ(answer["value"], 32);
  EXPECT_EQ(answer["points"].size(), 6u);
  for (const Json& point : answer["points"]) {
    EXPECT_EQ(point["met"], point["value"] == 32);
    EXPECT_EQ(!point["step_time_s"].is_null() && point["step_time_s"] < 0.7, point["met"].get<bool>());
  }
}

// The smallest clusters have no plan of 8 tensor ranks.
TEST(SearchCommand, TheFewestGpusAreFoundBehindClustersThatNoSizeDivides) {
  LEFT_TO_RELEASE();
  const Outcome outcome = run_program(std::string(kSmall) +
                                      " --over parallelism.tensor=8 --until 'step_time<10s' --least cluster.gpus "
                                      "--format json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const Json answer = Json::parse(outcome.out);
  EXPECT_GE(answer["value"].get<double>(), 8);
  for (const Json& point : answer["points"]) {
    const bool can_hold = point["value"].get<double>() >= 8;
    EXPECT_TRUE(can_hold || point["step_time_s"].is_null()) << point;
  }
  const Outcome none =
      run_program(std::string(kSmall) + " --over parallelism.tensor=5 --until 'step_time<10s' --least cluster.gpus");
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("no sizes divide"));
}

TEST(SearchCommand, AnEdgeIsATableAndRows) {
  LEFT_TO_RELEASE();
  const std::string words = std::string(kSmall) + " --until 'step_time<700ms' --least cluster.gpus";
  EXPECT_THAT(run_program(words).out, HasSubstr("least cluster.gpus with which the fastest plan meets step_time<700ms: "
                                                "32; with 16, the next lesser value that was tried, it does not\n"));
  EXPECT_THAT(run_program(words).out,
              HasSubstr("values: 1, 2, 4, 8, 16, 32, 64, from the least on until one meets it: what divides the "
                        "scenario's 64 GPUs and is whole nodes or part of one; other numbers are tried with --over "
                        "cluster.gpus=A,B,...\n"));
  EXPECT_THAT(run_program(words + " --over cluster.gpus=24,32").out,
              HasSubstr("values: 24, 32, from the least on until one meets it\n"));
  EXPECT_THAT(run_program(words + " --format csv").out, testing::StartsWith("value,counted_in,met,step_time_s,"));
}

TEST(SearchCommand, TheSlowestNetworkIsOnePercentFasterThanTheNext) {
  if (test::kSanitized) GTEST_SKIP() << "many searches, as the tests beside it do once";
  const Outcome outcome = run_program(std::string(kSmall) + " --until 'step_time<450ms' --least network --format json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const Json answer = Json::parse(outcome.out);
  const double least = answer["value"];
  EXPECT_LT(least, 1);
  double next = 0;
  for (const Json& point : answer["points"]) {
    if (point["value"] < least) next = point["value"];
    EXPECT_EQ(point["met"].get<bool>(), point["step_time_s"] < 0.45);
    EXPECT_EQ(point["met"].get<bool>(), point["value"] >= least);
  }
  EXPECT_NEAR(least / next, 1.01, 1e-9);
}

TEST(SearchCommand, ATargetThatNothingMeetsIsAnExitStatusOfItsOwn) {
  if (test::kSanitized) GTEST_SKIP() << "many searches, as the tests beside it do once";
  for (const char* what : {"cluster.gpus", "memory", "network"}) {
    const Outcome outcome = run_program(std::string(kSmall) + " --until 'step_time<1ms' --least " + what);
    EXPECT_EQ(outcome.status, 3) << what;
    EXPECT_THAT(outcome.out, HasSubstr(std::string("no ") + what + " that was tried meets step_time<1ms"));
  }
  const std::string one_plan =
      std::string(kSmall) + " --fix parallelism.tensor --fix recompute --least gpu_flops --until ";
  EXPECT_THAT(run_program(one_plan + "'step_time<1ms'").out,
              HasSubstr(": neither the most, 63.4 x (19.8 PFLOP/s), nor the least, 0.0158 x (4.92 TFLOP/s); where the "
                        "most does not, none between is tried\n"));
  EXPECT_THAT(run_program(one_plan + "'step_time>400ms'").out,
              HasSubstr("; no lesser value is tried\nwith more, 63.4 x (19.8 PFLOP/s), it does not: "));
}

TEST(SearchCommand, MoneyAndEnergyOfAStepAreObjectives) {
  if (test::kSanitized) GTEST_SKIP() << "many searches, as the tests beside it do once";
  const std::string costs =
      " --set 'run.gpu_hour_price=2 USD' --set 'run.power.computing=400 W' --set 'run.power.waiting=100 W' "
      "--over cluster.gpus=8,64 --format json";
  for (const char* objective : {"money", "energy"}) {
    const std::string key = std::string(objective) == "money" ? "money" : "energy_kwh";
    const Outcome found = run_program(std::string(kSmall) + costs + " --objective " + objective);
    ASSERT_EQ(found.status, 0) << found.err;
    const Json answer = Json::parse(found.out), plans = answer["plans"];
    expect_schema(results_schema("search"), answer, "search");
    for (std::size_t i = 1; i < plans.size(); ++i) EXPECT_GE(plans[i][key], plans[i - 1][key]) << i;
    const Json& best = plans[0];
    const double gpus = best["settings"]["cluster.gpus"], step = best["step_time_s"];
    EXPECT_NEAR(best["money"], 2 * gpus * step / 3600, 1e-9);
    EXPECT_EQ(best["currency"], "USD");
    EXPECT_GE(best["energy_kwh"], 0.1 * gpus * step / 3600);
    EXPECT_LE(best["energy_kwh"], 0.4 * gpus * step / 3600);
    // The cheapest plan is on few GPUs; who wants to be faster pays.
    const Outcome faster = run_program(std::string(kSmall) + costs + " --objective " + objective + " --within '" +
                                       std::to_string(step / 2) + " s'");
    ASSERT_EQ(faster.status, 0) << faster.err;
    const Json other = Json::parse(faster.out)["plans"][0];
    EXPECT_LT(other["step_time_s"], step / 2);
    EXPECT_GT(other[key], best[key]);
  }
}

TEST(SearchCommand, OrdersOfRanksBucketsAndTiersAreTriedWhereTheyAreNamed) {
  LEFT_TO_RELEASE();
  std::string words = kSmall;
  for (const char* fixed : {"parallelism.tensor", "recompute", "training.micro_batch", "parallelism.sequence",
                            "pipeline.schedule", "pipeline.virtual_stages"})
    words += std::string(" --fix ") + fixed;
  words += " --over parallelism.pipeline=2";
  const Outcome found =
      run_program(words +
                  " --over parallelism.order=tensor-context-data-pipeline,tensor-context-pipeline-data --over "
                  "data_parallel.bucket=25MiB,400MiB --over offload.optimizer=gpu,host --format json --top 1000 "
                  "--exhaustive");
  ASSERT_EQ(found.status, 0) << found.err;
  const Json answer = Json::parse(found.out);
  std::set<std::string> orders, buckets, tiers;
  for (const Json& plan : answer["plans"]) {
    orders.insert(plan["settings"]["parallelism.order"].get<std::string>());
    buckets.insert(plan["settings"]["data_parallel.bucket"].get<std::string>());
    tiers.insert(plan["settings"]["offload.optimizer"].get<std::string>());
  }
  EXPECT_EQ(orders.size(), 2u);
  EXPECT_EQ(buckets, (std::set<std::string>{"25 MiB", "400 MiB"}));
  EXPECT_EQ(tiers, (std::set<std::string>{"gpu", "host"}));
  // The plan that is written down is the plan that was found.
  const Outcome emitted = run_program(words +
                                      " --over parallelism.order=tensor-context-pipeline-data --over "
                                      "data_parallel.bucket=400MiB --over offload.optimizer=host --emit yaml");
  ASSERT_EQ(emitted.status, 0) << emitted.err;
  EXPECT_THAT(emitted.out, HasSubstr("order: [tensor, context, pipeline, data]"));
  EXPECT_THAT(emitted.out, HasSubstr("400 MiB"));
}

TEST(SearchCommand, BadWordsAreToldWithWhatIsAllowed) {
  const auto refused = [](const std::string& words, const std::string& why) {
    if (test::passed_over()) return;
    const Outcome outcome = run_program("search scenarios/quickstart.yaml " + words);
    EXPECT_EQ(outcome.status, 2) << words;
    EXPECT_THAT(outcome.err, HasSubstr(why)) << words;
    EXPECT_EQ(outcome.out, "");
  };
  refused("--objective mony", "did you mean 'money'");
  refused("--objective money", "run.gpu_hour_price");
  refused("--objective energy", "run.power.computing");
  refused("--within 3", "expected a time such as '10 s'");
  refused("--within 3s --until 'step_time<1s' --least memory", "--within");
  refused("--over parallelism.order=data", "expected one of tensor-context-data-pipeline");
  refused("--over data_parallel.bucket=4GiB", "with the unit MiB");
  refused("--over offload.optimizer=disk", "expected one of gpu, host, nvme");
  refused("--over parallelism.tensor", "expected KEY=A,B,...");
  refused("--over parallelism.tensor=", "found '', expected a whole number from 1");
  refused("--over parallelism.tensor=2,x", "parallelism.tensor: found 'x'");
  refused("--over parallelism.tensor=4,2,4", "parallelism.tensor: found '4' twice, expected once");
  refused("--over data_parallel.zero=4", "expected a whole number from 0 to 3");
  refused("--over parallelism.layers_per_stage=4", "expected one of given, balanced");
  refused("--over recompute=some", "expected one of none, selective, full, by-operator, given");
  refused("--over parallelism.data=2", "what the other sizes leave of the GPUs");
  refused("--over parallelism.tensr=2", "did you mean 'parallelism.tensor'");
  refused("--fix model.layers", "expected one of cluster.gpus, parallelism.tensor");
  refused("--fix recompute --over recompute=full", "recompute is said twice");
  refused("--emit json", "expected one of yaml, megatron");
  refused("--emit yaml --format json", "expected one of the two");
  refused("--emit deepspeed --set training.attention=flash --over parallelism.tensor=8 --over parallelism.context=2",
          "DeepSpeed cannot be told any plan of the space that fits; the first: parallelism.context: found '2'");
  refused("--emit yaml --front", "--front: found beside --emit, which makes nothing of it");
  refused("--exhaustive --budget 3", "expected one of the two");
  refused("--front --format csv", "found --format csv beside it");
  refused("--top 0", "--top");
  refused("--until 'step_time<1s'", "--until: found without --least");
  refused("--least memory", "--least: found without --until");
  refused("--until 'step_tim<1s' --least memory", "did you mean 'step_time'");
  refused("--until 'step_time<1 GiB' --least memory", "--until step_time<1 GiB: ");
  refused("--until step_time --least memory", "expected a comparison");
  refused("--until 'step_time<1s' --least netwrk", "did you mean 'network'");
  refused("--until 'step_time<1s' --least storage", "the scenario has no storage");
  refused("--until 'step_time<1s' --least memory --front", "found beside --until");
  refused("--over parallelism.tensor=5", "no sizes divide");
  refused("--over parallelism.tensor=64 --fix parallelism.expert", "no plan can run; the first: ");
}

TEST(SearchCommand, AxesStandOnThePage) {
  std::string rows;
  for (const search::SearchAxis& axis : search::axes())
    rows += fmt::format("| `{}` | {} |\n", axis.key, axis.usual_in_words);
  expect_block("docs/search.md", "axes", rows);
}

/// Published plans of a table: what is found is at least as fast as what was run.
TEST(SearchCommand, OfATableEachRowHasItsBestPlanBesideItsOwn) {
  if (stepcast::test::kSanitized) GTEST_SKIP() << "nine searches, each of which is like those of other tests";
  const std::string words =
      "search scenarios/published/korthikanti_2205_05198.csv --fix parallelism.tensor --fix "
      "parallelism.context --fix training.micro_batch --fix data_parallel.zero";
  const Outcome outcome = run_program(words + " --format json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const Json all = Json::parse(outcome.out);
  expect_schema(results_schema("search_runs"), all, "search of a table");
  ASSERT_EQ(all["runs"].size(), 9u);
  int faster = 0;
  for (const Json& run : all["runs"]) {
    ASSERT_TRUE(run["own_step_time_s"].is_number()) << run;
    EXPECT_LE(run["step_time_s"], run["own_step_time_s"]) << run["name"];
    faster += run["gain"] < 0;
    EXPECT_EQ(run["gap"], 0.0);
  }
  EXPECT_GE(faster, 4);
  EXPECT_THAT(run_program(words).out, HasSubstr("9 runs: a faster plan was found for"));
  EXPECT_EQ(run_program(words + " --front").status, 2);
  EXPECT_THAT(run_program(words + " --emit yaml").err, HasSubstr("--emit: found 9 scenarios, expected one"));
}

TEST(SearchCommand, ComparesInWhatTheObjectiveIs) {
  LEFT_TO_RELEASE();
  const std::string words = std::string(kSmall) + " --top 3 ";
  EXPECT_THAT(run_program(words).out, HasSubstr("the scenario's own plan takes "));
  const std::string memory = run_program(words + "--objective memory").out;
  EXPECT_THAT(memory, HasSubstr("the scenario's own plan holds "));
  EXPECT_THAT(memory, testing::Not(HasSubstr("bands")));  // of steps
  EXPECT_THAT(run_program(words + "--objective money --set 'run.gpu_hour_price=2 USD'").out,
              HasSubstr("the scenario's own plan costs "));
  EXPECT_THAT(run_program(words + "--objective gpus --over cluster.gpus=32,64").out,
              HasSubstr("the scenario's own plan is on 64 GPUs"));
  EXPECT_THAT(run_program(words + "--set 'cluster.node.gpu.memory.size=9 GiB'").out,
              HasSubstr("the scenario's own plan does not fit: it misses "));
}

TEST(SearchCommand, SaysThatTheScenariosOwnPlanIsTheFirstOrHowMuchMoreItTakes) {
  LEFT_TO_RELEASE();
  EXPECT_THAT(run_program("search scenarios/resnet-50-p100-256.yaml --top 1").out,
              HasSubstr("the scenario's own plan takes 0.160 s, as much as the first\n"));
  EXPECT_THAT(run_program("search scenarios/resnet-50-p100-256.yaml --top 1 --objective memory").out,
              testing::ContainsRegex("the scenario's own plan holds 4[.]44 GiB, [0-9.]+% more than the first\n"));
}

/// What Alpa's authors ran by hand: 425 plans, of which they mark 11 as out of memory (scenarios/alpa, docs/search.md).
TEST(SearchCommand, OfAlpasPlansMostFit) {
  LEFT_TO_RELEASE();
  const Json all = Json::parse(run_program("run scenarios/alpa/manual_gpt.csv --simulate none --format json").out);
  ASSERT_EQ(all["results"].size(), 425u);
  int refused = 0;
  for (const Json& run : all["results"]) refused += !run["out_of_memory"].is_null();
  EXPECT_EQ(refused, 11);
}

TEST(SearchCommand, FindsPlansAtLeastAsFastAsAlpas) {
  if (stepcast::test::kSanitized) GTEST_SKIP() << "other searches of tables run there";
  const Json all = Json::parse(
      run_program(
          "search scenarios/alpa/auto_gpt.csv --fix training.micro_batch --fix parallelism.context --fix recompute "
          "--fix parallelism.sequence --fix pipeline.virtual_stages --fix "
          "pipeline.schedule --fix data_parallel.zero --format json")
          .out);
  ASSERT_EQ(all["runs"].size(), 6u);
  for (const Json& run : all["runs"]) {
    SCOPED_TRACE(run["name"]);
    EXPECT_LE(run["gain"], 0);
    EXPECT_EQ(run["gap"], 0.0);
  }
}

/// One of the tables that scripts/search_published.sh writes, searched again; the others take minutes.
TEST(SearchCommand, PublishedRunsAreOnTheirPage) {
  if (stepcast::test::kSanitized) GTEST_SKIP() << "other searches of tables run there";
  const std::string name = "dlperf_v100_resnet_bert";
  std::string table = run_program("search scenarios/published/" + name + ".csv").out;
  table.resize(table.rfind("; at most"));  // so many seconds for a run
  const std::string page = read_text(STEPCAST_SOURCE_DIR "/docs/search-published.txt");
  EXPECT_THAT(page, HasSubstr("\n" + name + "\n" + table + "\n"));
  std::size_t tables = 0;
  for (std::size_t at = page.find(" runs: "); at != std::string::npos; at = page.find(" runs: ", at + 1), ++tables)
    EXPECT_THAT(page.substr(at, page.find('\n', at) - at), HasSubstr("a slower one for 0"));
  EXPECT_EQ(tables, 7u);  // of several rows
}

/// Sizes of tensor groups and pipelines divide the GPUs that are tried, not those of the scenario.
TEST(SearchCommand, OfAnotherClusterHasTheSizesThatDivideIt) {
  LEFT_TO_RELEASE();
  const std::string words =
      "search scenarios/quickstart.yaml --top 1 --format json --fix parallelism.context --fix recompute "
      "--fix parallelism.layers_per_stage --fix parallelism.sequence --fix data_parallel.zero";
  const Json over = without_seconds(run_program(words + " --over cluster.gpus=96").out);
  const Json set = without_seconds(run_program(words + " --set cluster.nodes=12 --set parallelism.pipeline=12 --set "
                                                       "pipeline.virtual_stages=2 --set parallelism.data=")
                                       .out);
  EXPECT_EQ(over["screened"], set["screened"]);
  EXPECT_EQ(over["plans"][0]["step_time_s"], set["plans"][0]["step_time_s"]);
}

}  // namespace
}  // namespace stepcast::app
