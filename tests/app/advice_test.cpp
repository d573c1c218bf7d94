#include "schedules/plan/advice.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "app/report/answer.h"
#include "schedules/checks/check.h"
#include "schedules/forecast.h"
#include "schedules/plan/plan.h"
#include "tests/language/fixtures.h"

namespace stepcast::app {
namespace {

using Strings = std::vector<std::string>;

schedules::Scenario read(const std::string& yaml, const Strings& settings = {}) {
  static language::Library library = language::configs();
  static int files = 0;  // the library reads a file once
  const std::string path = testing::TempDir() + "advised-" + std::to_string(++files) + ".yaml";
  std::ofstream(path, std::ios::binary) << yaml;
  const language::Question question = language::read_questions(Strings{path}, settings, library).at(0);
  EXPECT_EQ(question.error, "") << yaml;
  return question.scenario;
}

schedules::Forecast forecast(const std::string& yaml, const Strings& settings = {}) {
  return schedules::forecast(read(yaml, settings));
}

/// A scenario of few passes, whose model may be far too large.
std::string random_scenario(std::mt19937& random) {
  const auto pick = [&](std::initializer_list<const char*> of) { return of.begin()[random() % of.size()]; };
  const bool experts = random() % 4 == 0;
  std::string yaml = fmt::format("cluster: {{node: {}, gpus: {}}}\n", pick({"dgx-a100-40gb", "dgx-h100"}),
                                 pick({"1", "2", "8", "16"}));
  yaml += fmt::format("model: {{base: {}, layers: {}}}\n", experts ? "mixtral-8x7b" : pick({"llama2-7b", "gpt3-175b"}),
                      pick({"4", "16", "48"}));
  yaml += fmt::format("training: {{global_batch: 256, micro_batch: {}, sequence: {}}}\n", pick({"1", "4", "16"}),
                      pick({"2048", "8192"}));
  yaml += fmt::format("recompute: {}\n", pick({"none", "selective", "{every: 2}", "full", "{modules: [mlp]}"}));
  yaml += fmt::format("data_parallel: {{zero: {}}}\n", pick({"0", "0", "1", "3"}));
  if (random() % 3 == 0)
    yaml += fmt::format("offload: {{optimizer: {}, activations: {}}}\n", pick({"gpu", "host"}), pick({"gpu", "host"}));
  return yaml;
}

// Each with the program's own words: what --set makes of the scenario fits, or lacks as much as is said.
TEST(Advice, IsTrueOfWhatSetMakesOfTheScenario) {
  const unsigned seed = 7;
  std::mt19937 random(seed);
  workload::Machines machines;
  int fits = 0, nearest = 0, larger = 0;
  for (int turn = 0; turn < 25; ++turn) {
    const std::string yaml = random_scenario(random);
    const schedules::Scenario s = read(yaml);
    ASSERT_TRUE(schedules::check(s).empty());
    const auto over = plan(s, machines).out_of_memory;
    if (!over) continue;
    const std::vector<schedules::Advice> all = advice(s, machines, *over);
    EXPECT_LE(all.size(), 3u);
    for (const schedules::Advice& advice : all) {
      SCOPED_TRACE(yaml + fmt::format("--set {}", fmt::join(advice.settings, " --set ")));
      const schedules::Scenario changed = read(yaml, advice.settings);
      ASSERT_TRUE(schedules::check(changed).empty()) << schedules::check(changed).front().text;
      EXPECT_EQ(changed.cluster.gpus > s.cluster.gpus, advice.more_gpus);
      const auto still = plan(changed, machines).out_of_memory;
      EXPECT_EQ(still ? still->needed - still->available : Bytes{}, advice.missing);
      advice.missing > Bytes{} ? ++nearest : advice.more_gpus ? ++larger : ++fits;
    }
  }
  EXPECT_GT(fits, 10);
  EXPECT_GT(nearest, 1);
  EXPECT_GT(larger, 1);
}

std::string advice_of(const std::string& yaml) { return advice_text(*forecast(yaml).out_of_memory); }

TEST(Advice, NamesOffloadingOnOneGpuAndNoRanksThatItHasNot) {
  EXPECT_EQ(advice_of("cluster: {node: dgx-a100-80gb, gpus: 1}\nmodel: llama2-7b\n"
                      "training: {global_batch: 4, micro_batch: 1, sequence: 2048}\n"),
            "try --set offload.optimizer=host");
}

TEST(Advice, SaysWhatIsStillMissingAndHowManyGpusWouldDo) {
  EXPECT_EQ(advice_of("cluster: {node: dgx-a100-80gb, nodes: 1}\nmodel: gpt3-175b\n"
                      "training: {global_batch: 32, micro_batch: 1, sequence: 1024}\n"
                      "parallelism: {tensor: 2, pipeline: 2, data: 2}\n"),
            "nothing that was tried on these GPUs makes it fit; nearest: --set data_parallel.zero=2 --set "
            "offload.optimizer=host, which still lacks 34.9 GiB; with more GPUs, try --set cluster.gpus=16 --set "
            "parallelism.data=4 --set data_parallel.zero=3 --set offload.optimizer=host");
}

// A forecast's own memory: a plan that fits by plan() fits when it is run.
TEST(Advice, HoldsWhereTheStepIsRun) {
  const std::string yaml =
      "cluster: {node: dgx-a100-40gb, nodes: 1}\nmodel: llama2-7b\n"
      "training: {global_batch: 64, micro_batch: 8, sequence: 2048}\nparallelism: {tensor: 4}\n";
  const auto over = forecast(yaml).out_of_memory;
  ASSERT_TRUE(over);
  ASSERT_FALSE(over->advice.empty());
  for (const schedules::Advice& advice : over->advice) EXPECT_FALSE(forecast(yaml, advice.settings).out_of_memory);
}

}  // namespace
}  // namespace stepcast::app
