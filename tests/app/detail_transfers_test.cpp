// run --detail transfers: what it says beside the forecast, and what it refuses.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/app/program.h"

namespace stepcast::app {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

/// A small step on a fabric that hashes.
std::string step() {
  const std::string path = testing::TempDir() + "small-step.yaml";
  std::ofstream(path) << "cluster: {node: dgx-h100, nodes: 2, fabric: {base: ethernet-ecmp, radix: 8}}\n"
                         "model: {base: llama3-8b, layers: 4}\n"
                         "training: {global_batch: 8, micro_batch: 1, sequence: 2048}\n"
                         "parallelism: {tensor: 4, data: 4}\n";
  return "run " + path + " ";
}
constexpr const char* kCount = "simulated [0-9]+ tasks, of which [0-9]+ are transfers";

TEST(DetailTransfers, SaysHowManyTasksItSimulated) {
  const Outcome outcome = run_program(step() + "--detail transfers --format json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  const Json notes = Json::parse(outcome.out)["results"][0]["notes"];
  ASSERT_FALSE(notes.empty());
  EXPECT_EQ(notes.back()["key"], "--detail transfers");
  EXPECT_THAT(notes.back()["text"].get<std::string>(), ContainsRegex(kCount));
  EXPECT_THAT(run_program(step() + "--detail transfers").out, ContainsRegex(kCount));
  EXPECT_THAT(run_program(step()).out, Not(ContainsRegex(kCount)));
}

TEST(DetailTransfers, SaysHowManyTasksItMakesAndHowFarItIs) {
  const auto said = [](const std::string& option) {
    return run_program(step() + option + " --output /dev/null", STEPCAST_SOURCE_DIR, "STEPCAST_PROGRESS=0").err;
  };
  EXPECT_THAT(said("--detail transfers"), ContainsRegex("[0-9]+ of [0-9]+ tasks, of which [0-9]+ are transfers\n$"));
  EXPECT_THAT(said(""), Not(HasSubstr("transfers")));
}

TEST(DetailTransfers, RefusesWorkersThatDoNotWaitForEachOtherAtTheirKey) {
  const Outcome outcome = run_program("run scenarios/vgg-16-asynchronous.yaml --detail transfers");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, ContainsRegex("^scenarios/vgg-16-asynchronous.yaml:[0-9]+:[0-9]+: "
                                         "data_parallel.consistency: found asynchronous beside --detail transfers, "
                                         "expected bulk_synchronous"));
  EXPECT_THAT(outcome.err, HasSubstr("without --detail transfers each message"));
}

TEST(DetailTransfers, IsAskedForOverHashingsToo) {
  const std::string hashed = step() + "--seeds 2 --format json ";
  const Outcome usual = run_program(hashed), whole = run_program(hashed + "--detail transfers");
  ASSERT_EQ(whole.status, 0) << whole.err;
  const auto median = [](const Outcome& of) {
    return Json::parse(of.out)["results"][0]["step_time_median_s"].get<double>();
  };
  EXPECT_NEAR(median(usual), median(whole), 0.05 * median(whole));
}

}  // namespace
}  // namespace stepcast::app
