// stepcast flows, and --seeds of the commands that have it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/app/program.h"
#include "tests/app/schema.h"

namespace stepcast::app {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

const std::string kHosts = "--cluster fat-tree-eqds-16 --software eqds ";
const std::string kHashed = kHosts + "--set cluster.fabric.routing=hash ";
const std::string kStep = "run scenarios/gpt-1t-3072.yaml --set cluster.fabric.routing=hash ";

Json json(const std::string& command) {
  const Outcome outcome = run_program(command + " --format json");
  EXPECT_EQ(outcome.status, 0) << command << '\n' << outcome.err;
  return Json::parse(outcome.out, nullptr, false);
}

/// What a command that cannot be meant says.
std::string error(const std::string& command) {
  const Outcome outcome = run_program(command);
  EXPECT_EQ(outcome.status, 2) << command;
  EXPECT_EQ(outcome.out, "") << command;
  return outcome.err;
}

/// A table of flows in a file of this test's own.
std::string table(const std::string& name, const std::string& content) {
  const std::string path = (std::filesystem::temp_directory_path() / name).string();
  std::ofstream(path) << content;
  return path;
}

TEST(Flows, SayWhenTheMedianFlowAndTheLastArrive) {
  const Outcome outcome = run_program("flows " + kHosts + "--pattern incast --gpus 2 --sizes 1MB,2MB");
  EXPECT_EQ(outcome.out,
            "incast over 2 GPUs, 1 flow, stack eqds\n"
            "times in us\n"
            "size (B)  median flow  last flow\n"
            " 1000000         89.6       89.6\n"
            " 2000000        170.9      170.9\n");
  const Json row = json("flows " + kHosts + "--pattern incast --gpus 2 --sizes 2MB")["rows"][0];
  EXPECT_EQ(row["pattern"], "incast");
  EXPECT_EQ(row["flows"], 1);
  EXPECT_EQ(row["hashings"], 1);
  EXPECT_NEAR(row["last_flow_s"].get<double>(), 170.9e-6, 1e-7);
  EXPECT_THAT(run_program("flows " + kHosts + "--pattern incast --sizes 2MB --format csv").out,
              testing::StartsWith("pattern,ranks,flows,hashings,size_bytes,median_flow_s,"));
}

TEST(Flows, OfATableAreThoseThatItSays) {
  const std::string path = table("flows-of-three.txt", "# GPU 0 sends twice as much\n0 2 0\n0 0 0\n0 1 0\n");
  const Json row = json("flows " + kHosts + "--gpus 3 --pattern " + path + " --sizes 2MB")["rows"][0];
  EXPECT_EQ(row["flows"], 2);
  EXPECT_GT(row["last_flow_s"].get<double>(), 1.5 * 162e-6);  // both share the receiver's port, then one has it alone
  EXPECT_LT(row["last_flow_s"].get<double>(), 1.6 * 162e-6 + 14e-6);
}

TEST(Flows, ThatCannotBeMeantAreErrors) {
  EXPECT_THAT(error("flows " + kHosts), HasSubstr("expected --pattern"));
  EXPECT_THAT(error("flows " + kHosts + "--pattern incas"), HasSubstr("did you mean 'incast'?"));
  EXPECT_THAT(error("flows " + kHosts + "--pattern nowhere.txt"), HasSubstr("nowhere.txt: no such file"));
  EXPECT_THAT(error("flows " + kHosts + "--pattern incast --nodes 1"), HasSubstr("found 1 GPU, expected at least 2"));
  EXPECT_THAT(error("flows --pattern incast"), HasSubstr("expected one of --cluster and --node"));
  const std::string pairs = "flows " + kHosts + "--gpus 2 --pattern ";
  EXPECT_THAT(error(pairs + table("flows-small.txt", "0\n")), HasSubstr("found a table of 1 numbers, expected 2 rows"));
  EXPECT_THAT(error(pairs + table("flows-own.txt", "0 1\n0 4\n")), HasSubstr("found 4 in row 2 and column 2"));
  EXPECT_THAT(error(pairs + table("flows-none.txt", "0 0\n0 0\n")), HasSubstr("found nothing but 0"));
  EXPECT_THAT(error(pairs + table("flows-words.txt", "0 x\n0 0\n")), HasSubstr("flows-words.txt:1:3: found 'x'"));
}

TEST(Seeds, AreErrorsWhereNothingIsHashed) {
  const std::string flows = "flows " + kHosts + "--pattern incast --seeds ";
  EXPECT_THAT(error(flows + "3"), HasSubstr("--seeds: found 3 on the fabric 'fat-tree-eqds' of kind fat-tree with "
                                            "routing spray, which hashes nothing"));
  EXPECT_THAT(error(flows + "0"), HasSubstr("--seeds"));
  EXPECT_THAT(error(flows + "10001"), HasSubstr("--seeds"));
  EXPECT_THAT(error("flows --node dgx-h100 --pattern incast --seeds 3"), HasSubstr("found 3 on one node"));
  EXPECT_THAT(error("flows --node dgx-h100 --nodes 2 --pattern incast --set cluster.fabric=one-switch --seeds 3"),
              HasSubstr("of kind one-switch"));
  EXPECT_THAT(error("collective --node dgx-h100 --nodes 2 --seeds 3"), HasSubstr("with routing adaptive"));
  EXPECT_THAT(error("collective --node dgx-h100 --nodes 2 --seeds 3 --explain"), HasSubstr("beside --seeds"));
  EXPECT_THAT(error("run scenarios/gpt-1t-3072.yaml --seeds 3"),
              HasSubstr("scenarios/gpt-1t-3072.yaml: --seeds: found 3 on the fabric"));
  EXPECT_THAT(error(kStep + "--seeds 3 --simulate all"), HasSubstr("--simulate: found beside --seeds"));
}

TEST(Seeds, GiveTheSameDistributionAgainAndOneIsTheFabricsOwn) {
  const std::string command = "flows " + kHashed + "--pattern permutation --sizes 2MB";
  const Json own = json(command)["rows"][0], one = json(command + " --seeds 1")["rows"][0];
  EXPECT_EQ(own, one);
  const Json many = json(command + " --seeds 40")["rows"][0];
  EXPECT_EQ(many, json(command + " --seeds 40")["rows"][0]);
  EXPECT_EQ(many["hashings"], 40);
  EXPECT_LT(many["last_flow_least_s"], many["last_flow_most_s"]);

  std::vector<double> each;
  for (int seed = 5; seed < 10; ++seed)
    each.push_back(json(command + " --set cluster.fabric.seed=" + std::to_string(seed))["rows"][0]["last_flow_s"]);
  std::ranges::sort(each);
  const Json five = json(command + " --set cluster.fabric.seed=5 --seeds 5")["rows"][0];
  EXPECT_EQ(five["last_flow_least_s"], each.front());
  EXPECT_EQ(five["last_flow_s"], each[2]);
  EXPECT_EQ(five["last_flow_most_s"], each.back());
}

TEST(Seeds, OfACollectiveAreItsTimesWithEachHashing) {
  const std::string command =
      "collective --cluster fat-tree-eqds-16 --op all_to_all --sizes 16MB --set cluster.fabric.routing=hash";
  const Json own = json(command)["rows"][0], one = json(command + " --seeds 1")["rows"][0];
  EXPECT_EQ(own["time_s"], one["time_s"]);
  EXPECT_EQ(one["time_least_s"], one["time_most_s"]);
  const Json many = json(command + " --seeds 12")["rows"][0];
  EXPECT_LT(many["time_least_s"], many["time_most_s"]);
  EXPECT_LE(many["time_least_s"], own["time_s"]);
  EXPECT_GE(many["time_most_s"], own["time_s"]);
  EXPECT_THAT(run_program(command + " --seeds 12").out,
              HasSubstr("12 hashings of the fabric: times are their medians"));
}

TEST(Seeds, OfAStepAreItsTimesWithEachHashing) {
#ifndef NDEBUG
  GTEST_SKIP() << "runs in the release build";
#endif
  const double own = json(kStep)["results"][0]["step_time_s"],
               next = json(kStep + "--set cluster.fabric.seed=1")["results"][0]["step_time_s"];
  const Json one = json(kStep + "--seeds 1")["results"][0], two = json(kStep + "--seeds 2")["results"][0];
  EXPECT_EQ(one["step_time_median_s"], own);
  EXPECT_EQ(one["error"], nullptr);
  EXPECT_EQ(two["step_time_least_s"], std::min(own, next));
  EXPECT_EQ(two["step_time_most_s"], std::max(own, next));
  EXPECT_EQ(two["step_time_p95_s"], two["step_time_most_s"]);
  EXPECT_DOUBLE_EQ(two["step_time_median_s"], (own + next) / 2);
  const Outcome text = run_program(kStep + "--seeds 2");
  EXPECT_THAT(text.out, HasSubstr("step time over 2 hashings of the fabric\n"));
}

TEST(Seeds, OfATableSayInTheRowWhyItHasNone) {
  const std::string path = table("hashed-rows.csv",
                                 "name,cluster.node,cluster.nodes,cluster.fabric.routing,model,training.global_batch,"
                                 "training.micro_batch,training.sequence,parallelism.tensor\n"
                                 "hashed,dgx-h100,2,hash,llama3-8b,16,1,2048,8\n"
                                 "shared,dgx-h100,2,adaptive,llama3-8b,16,1,2048,8\n");
  const Outcome outcome = run_program("run " + path + " --seeds 2 --format json");
  EXPECT_EQ(outcome.status, 1) << outcome.err;
  const Json all = Json::parse(outcome.out, nullptr, false), results = all["results"];
  expect_schema(results_schema("run_seeds"), all, "run --seeds");
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0]["error"], nullptr);
  EXPECT_GT(results[0]["step_time_median_s"].get<double>(), 0);
  EXPECT_EQ(results[1]["step_time_median_s"], nullptr);
  EXPECT_THAT(results[1]["error"].get<std::string>(), HasSubstr("which hashes nothing"));
  EXPECT_THAT(outcome.err, HasSubstr("1 of 2 rows could not be run"));
}

}  // namespace
}  // namespace stepcast::app
