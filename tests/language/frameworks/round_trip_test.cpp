// A plan that is emitted and imported again is the same plan, with the same forecast.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "language/frameworks/configuration.h"
#include "language/frameworks/emit.h"
#include "language/frameworks/frameworks.h"
#include "schedules/checks/check.h"
#include "schedules/forecast.h"
#include "tests/language/fixtures.h"
#include "tests/language/frameworks/random_plan.h"
#include "tests/sanitized.h"
#include "workload/machines.h"

namespace stepcast::language {
namespace {

constexpr std::size_t kPlans = test::kSanitized ? 50 : 500;

Node tree_of(const std::string& yaml, Library& library) {
  return library.scenario("plan.yaml", yaml, scenario_schema());
}

/// All that is said of a plan, a line each.
std::string lines(const Words& words) {
  std::string out;
  for (const auto& [key, word] : words) out += key + ": " + word.text + "\n";
  return out;
}

/// What starts `yaml` with a framework, and what that says of some keys when it is read again.
std::pair<std::string, Words> there_and_back(const char* framework, const std::string& yaml) {
  Library library = configs();
  const Node tree = tree_of(yaml, library);
  const Framework& to = framework_named(framework, "");
  const Emitted emitted = emit(to, read_scenario(tree, library), tree);
  const std::string text = scenario_of_configuration(to, emitted.text, "emitted", emitted.left, library).text;
  return {emitted.text, words_of(read_scenario(tree_of(text, library), library))};
}

// Layers of multi-token prediction on a stage of their own, beside plain ones, and where nobody places them.
TEST(RoundTrips, KeepLayersOfMultiTokenPredictionWhereTheyStand) {
  const auto of = [](const std::string& layers) {
    const auto [text, words] = there_and_back("megatron",
                                              "name: m\ncluster: {node: dgx-h100, gpus: 4}\nsoftware: "
                                              "megatron-core\nmodel: {family: llama, layers: 7, hidden: 1024, heads: "
                                              "16, vocab: 51200, ffn: 4096, mtp_layers: 1}\ntraining: {sequence: 1024, "
                                              "micro_batch: 1, global_batch: 8, precision: bf16}\nparallelism: "
                                              "{pipeline: 4, layers_per_stage: " +
                                                  layers + "}\n");
    const std::size_t begin = text.find("Et"), end = text.find('L', begin);
    return text.substr(begin, end - begin) + " " + words.at("parallelism.layers_per_stage").text;
  };
  EXPECT_EQ(of("[3, 3, 2, 0]"), "Et*3|t*3|t*1m*1|, [3, 3, 2, 0]");
  EXPECT_EQ(of("[3, 2, 1, 2]"), "Et*3|t*2|t*1|t*1m*1, [3, 2, 1, 1]");  // on the last stage anyway
  EXPECT_EQ(of("[3, 2, 1, 1]"), "Et*3|t*2|t*1|t*1m*1, [3, 2, 1, 1]");
}

TEST(RoundTrips, GiveListsAsWordsOfTheirOwn) {
  const auto [text, words] =
      there_and_back("megatron",
                     "name: m\ncluster: {node: dgx-h100, gpus: 4}\nsoftware: megatron-core\nmodel: "
                     "mixtral-8x7b\ntraining: {sequence: 1024, "
                     "micro_batch: 1, global_batch: 8, precision: bf16}\nrecompute: {modules: [moe_act, layernorm]}\n");
  EXPECT_NE(text.find("--recompute-modules moe_act layernorm "), text.npos) << text;
}

TEST(RoundTrips, KeepLayersByAPattern) {
  const auto [text, words] = there_and_back(
      "megatron",
      "name: m\ncluster: {node: dgx-h100, gpus: 8}\nsoftware: megatron-core\nmodel: nemotron-3-nano-30b-a3b\ntraining: "
      "{sequence: 1024, micro_batch: 1, global_batch: 8, precision: bf16}\nparallelism: {expert: 8}\n");
  for (const char* said : {"--hybrid-override-pattern \"MEMEM*EMEM", "pretrain_mamba.py", "--is-hybrid-model",
                           "--spec megatron.core.models.mamba.mamba_layer_specs mamba_stack_spec", "--squared-relu",
                           "--mamba-num-heads 64", "--position-embedding-type none"})
    EXPECT_NE(text.find(said), text.npos) << said << "\n" << text;
  EXPECT_EQ(words.at("model.pattern").text, "MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME");
  EXPECT_EQ(words.at("model.mamba.groups").text, "8");
  EXPECT_EQ(words.at("model.experts.shared_ffn").text, "3712");
}

class RoundTrip : public testing::TestWithParam<const Framework*> {};

TEST_P(RoundTrip, OfRandomPlansGivesTheSamePlanAndTheSameForecast) {
  const Framework& framework = *GetParam();
  Library library = configs();
  workload::Machines machines(std::size_t{64} << 20);
  std::size_t plans = 0, forecasts = 0;
  std::map<std::string, std::size_t> refused;
  for (std::uint64_t seed = 0; plans < kPlans && seed < 10 * kPlans; ++seed) {
    const std::string yaml = random_plan(framework.name, seed);
    const Node tree = tree_of(yaml, library);
    schedules::Scenario scenario;
    if (!complaint([&] { scenario = read_scenario(tree, library); }).empty()) continue;
    if (const auto problems = schedules::check(scenario); !problems.empty()) {
      ++refused[std::string(problems[0].key)];
      continue;
    }
    const auto context = fmt::format("{} seed {}\n{}", framework.name, seed, yaml);
    Emitted emitted;
    ASSERT_EQ(complaint([&] { emitted = emit(framework, scenario, tree); }), "") << context;
    schedules::Scenario back;
    std::string text;
    ASSERT_EQ(complaint([&] {
                text = scenario_of_configuration(framework, emitted.text, "emitted", emitted.left, library).text;
                back = read_scenario(tree_of(text, library), library);
              }),
              "")
        << context << emitted.text << text;
    ASSERT_EQ(lines(words_of(scenario)), lines(words_of(back))) << context << emitted.text << text;
    ++plans;
    // The words may not be all that a forecast depends on: it tells.
    constexpr std::size_t kEach = 10;
    if (plans % kEach != 0 || !schedules::check(back).empty()) continue;
    ASSERT_EQ(schedules::forecast(scenario, machines).step.value, schedules::forecast(back, machines).step.value)
        << context << emitted.text << text;
    ++forecasts;
  }
  EXPECT_EQ(plans, kPlans);
  EXPECT_EQ(forecasts, kPlans / 10);
  for (const auto& [key, times] : refused) RecordProperty("refused_" + key, static_cast<int>(times));
}

INSTANTIATE_TEST_SUITE_P(Of, RoundTrip, testing::ValuesIn(frameworks().begin(), frameworks().end()),
                         [](const auto& each) {
                           std::string name(each.param->name);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace

void PrintTo(const Framework* framework, std::ostream* out) { *out << framework->name; }

}  // namespace stepcast::language
