// list, show, keys and help: what there is, without reading the sources.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "app/catalogue.h"
#include "language/configs/model.h"
#include "tests/app/program.h"
#include "tests/app/schema.h"
#include "tests/language/fixtures.h"
#include "tests/sanitized.h"

namespace stepcast::app {
namespace {

using nlohmann::json;

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(List, NamesEveryKindWithItsCount) {
  const Outcome outcome = run_program("list --format json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  language::Library library = language::configs();
  std::size_t at = 0;
  for (const json& kind : json::parse(outcome.out)) {
    EXPECT_EQ(kind["kind"], catalogue()[at].name);
    EXPECT_EQ(kind["names"], catalogue()[at].names(library).size());
    ++at;
  }
  EXPECT_EQ(at, catalogue().size());
  EXPECT_TRUE(holds(run_program("list").out, "\ngpus "));
}

TEST(List, SaysSomethingUsefulOfEveryNameInEveryFormat) {
  LEFT_TO_RELEASE();
  language::Library library = language::configs();
  for (const CatalogueKind& kind : catalogue()) {
    const std::string list = "list " + std::string(kind.name);
    const Outcome table = run_program(list), objects = run_program(list + " --format json");
    ASSERT_EQ(table.status, 0) << table.err;
    const std::vector<std::string> names = kind.names(library);
    const json all = json::parse(objects.out);
    expect_schema(results_schema("list"), all, list);
    ASSERT_EQ(all.size(), names.size()) << kind.name;
    for (std::size_t i = 0; i < names.size(); ++i) {
      EXPECT_TRUE(holds(table.out, "\n" + names[i] + " ")) << kind.name << '/' << names[i];
      EXPECT_EQ(all[i]["name"], names[i]);
      EXPECT_EQ(all[i].contains("file"), kind.schema != nullptr);
      EXPECT_EQ(all[i].size(), all[0].size()) << names[i];
    }
    const std::string csv = run_program(list + " --format csv").out;
    EXPECT_GE(static_cast<std::size_t>(std::count(csv.begin(), csv.end(), '\n')), names.empty() ? 0 : names.size() + 1);
  }
}

TEST(List, AndKeysAndTopologyFollowTheirSchema) {
  expect_schema(results_schema("list"), json::parse(run_program("list --format json").out), "list");
  expect_schema(results_schema("keys"), json::parse(run_program("keys --format json").out), "keys");
  expect_schema(results_schema("topology"), json::parse(run_program("topology dgx-a100-80gb --json").out), "topology");
}

TEST(List, ModelsHaveTheParametersThatAForecastCounts) {
  std::map<std::string, json> models;
  for (const json& model : json::parse(run_program("list models --format json").out)) models[model["name"]] = model;
  EXPECT_NEAR(models["gpt3-175b"]["parameters"].get<double>(), 174.6e9, 0.1e9);
  EXPECT_NEAR(models["resnet-50"]["parameters"].get<double>(), 25.557e6, 0.001e6);
  EXPECT_NEAR(models["mixtral-8x7b"]["active_parameters"].get<double>(), 12.88e9, 0.02e9);
}

TEST(List, AnUnknownKindGetsAllOfThem) {
  const Outcome outcome = run_program("list gpu");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.err,
            "stepcast list: found 'gpu', expected one of gpus, nodes, links, fabrics, clusters, models, software, "
            "profiles, algorithms, schedules; did you mean 'gpus'?\n");
}

TEST(List, OfAKindWithoutNamesSaysSo) { EXPECT_TRUE(run_program("list profiles").out.starts_with("none; ")); }

TEST(Show, TellsEveryKeyOfEveryFileWithItsPlaceAndItsSource) {
  LEFT_TO_RELEASE();
  language::Library library = language::configs();
  for (const CatalogueKind& kind : catalogue()) {
    std::string words = "show --format json";
    const std::vector<std::string> names = kind.names(library);
    if (names.empty()) continue;
    for (const std::string& name : names) words += " " + std::string(kind.name) + "/" + name;
    const Outcome outcome = run_program(words);
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const json all = json::parse(outcome.out);
    expect_schema(results_schema("show"), all, "show");
    ASSERT_EQ(all.size(), names.size());
    for (const json& one : all) {
      if (kind.schema == nullptr) {
        EXPECT_FALSE(one["source"].get<std::string>().empty()) << one;
        continue;
      }
      EXPECT_GE(one["keys"].size(), 2u) << one["name"];
      for (const json& key : one["keys"]) {
        const std::string path = key["key"];
        EXPECT_NE(language::find_key(kind.schema(), path.substr(0, path.find('['))), nullptr)
            << one["name"] << ": " << path;
        EXPECT_GE(key["line"].get<int>(), 1);
      }
      EXPECT_FALSE(one["sources"][0]["source"].get<std::string>().empty()) << one["name"];
    }
  }
}

TEST(Show, PutsValuesRemarksSourceAndDefaultsBesideEachOther) {
  const Outcome outcome = run_program("show megatron-core");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(outcome.out.starts_with("software/megatron-core\n\n  file       configs/software/megatron-core.yaml\n"))
      << outcome.out;
  EXPECT_TRUE(holds(outcome.out, "  host_per_kernel                16 us")) << outcome.out;
  EXPECT_TRUE(holds(outcome.out, "\nremarks\n")) << outcome.out;
  EXPECT_TRUE(holds(outcome.out, "  bucket: --ddp-bucket-size: 40 million parameters, fp32\n")) << outcome.out;
  EXPECT_TRUE(holds(outcome.out, "\nsource\n  Megatron Core, github.com/NVIDIA/Megatron-LM")) << outcome.out;
  EXPECT_TRUE(holds(outcome.out, "\nleft out\n")) << outcome.out;
}

TEST(Show, TellsOfAlgorithmsAndSchedulesWhereTheyAreFrom) {
  const Outcome outcome = run_program("show ring dualpipe custom");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(holds(outcome.out, "algorithms/ring\n")) << outcome.out;
  EXPECT_TRUE(holds(outcome.out, "Patarasuk and Yuan")) << outcome.out;
  EXPECT_TRUE(holds(outcome.out, "arXiv:2412.19437")) << outcome.out;
}

TEST(Show, OfAScenarioSaysWhatForecastsIt) {
  const Outcome outcome = run_program("show scenarios/quickstart.yaml");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_TRUE(holds(outcome.err, "scenarios/quickstart.yaml: found a scenario, which 'stepcast run' forecasts"))
      << outcome.err;
}

TEST(Show, ShowsAFileOfOnesOwnAsOneOfTheLibrary) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "show-own";
  std::filesystem::create_directories(folder);
  const auto written = [&](const char* name, const char* text) {
    std::ofstream(folder / name) << text;
    return (folder / name).string();
  };
  const std::string fabric = written("ours.yaml", "base: fat-tree-hdr\noversubscription: 2  # as we cabled it\n");
  const Outcome own = run_program("show " + fabric);
  ASSERT_EQ(own.status, 0) << own.err;
  EXPECT_TRUE(own.out.starts_with("fabrics: " + fabric + "\n")) << own.out;
  EXPECT_TRUE(holds(own.out, "oversubscription")) << own.out;
  EXPECT_TRUE(holds(own.out, "remarks\n  oversubscription: as we cabled it\n")) << own.out;
  EXPECT_TRUE(run_program("show configs/gpus/h100-sxm5-80gb.yaml").out.starts_with("gpus: configs/gpus/h100"));
  EXPECT_TRUE(run_program("show configs/models/llama2-7b.yaml").out.starts_with("models: "));
  const Outcome wrong = run_program("show " + written("wrong.yaml", "base: fat-tree-hdr\noversubscription: much\n"));
  EXPECT_EQ(wrong.status, 2);
  EXPECT_TRUE(holds(wrong.err, "wrong.yaml:2:19: oversubscription: found 'much'")) << wrong.err;
  EXPECT_TRUE(
      holds(run_program("show " + written("other.yaml", "colour: red\n")).err, "found no key that a GPU, node,"));
  EXPECT_TRUE(holds(run_program("show gone.yaml").err, "gone.yaml: no such file"));
}

TEST(Show, AnUnknownNameGetsThoseLikeItAndAKindItsList) {
  const Outcome part = run_program("show h100");
  EXPECT_EQ(part.status, 2);
  EXPECT_TRUE(holds(part.err, "gpus/h100-sxm5-80gb")) << part.err;
  EXPECT_TRUE(holds(part.err, "nodes/dgx-h100")) << part.err;
  EXPECT_TRUE(holds(run_program("show resnet50").err, "did you mean 'resnet-50'?"));
  EXPECT_TRUE(holds(run_program("show gpus").err, "'stepcast list gpus'"));
  EXPECT_TRUE(holds(run_program("show gpus/ring").err, "h100-sxm5-80gb"));
  EXPECT_EQ(run_program("show").status, 2);
}

TEST(Keys, APrefixPrintsWhatIsBelowIt) {
  const auto paths = [](const std::string& prefix) {
    std::vector<std::string> all;
    for (const json& key : json::parse(run_program("keys " + prefix + " --format json").out)) all.push_back(key["key"]);
    return all;
  };
  for (const std::string& path : paths("parallelism")) EXPECT_TRUE(path.starts_with("parallelism.")) << path;
  EXPECT_EQ(paths("parallelism.tensor"), std::vector<std::string>{"parallelism.tensor"});
  EXPECT_EQ(paths("cluster.node.gpu.memory").front(), "cluster.node.gpu.memory.size");
  EXPECT_EQ(paths("gpu.memory").front(), "memory.size");
  EXPECT_EQ(paths("link").front(), "name");
  EXPECT_EQ(paths("cluster").at(1), "cluster.name");
  EXPECT_GT(paths("").size(), paths("scenario").size() + paths("software").size());
  EXPECT_TRUE(holds(run_program("keys recompute").out, "recompute.modules"));
}

TEST(Keys, OfAChoiceAreListedForPrograms) {
  const json key = json::parse(run_program("keys pipeline.schedule --format json").out)[0];
  EXPECT_EQ(key["type"], "choice");
  EXPECT_EQ(key["choices"][2], "1f1b");
  EXPECT_EQ(key["default"], "1f1b");
  EXPECT_EQ(key["required"], false);
}

TEST(Keys, AnUnknownPrefixGetsTheNearest) {
  const Outcome outcome = run_program("keys paralelism");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_TRUE(outcome.err.ends_with("; did you mean 'parallelism'?\n")) << outcome.err;
  EXPECT_EQ(run_program("keys foo").status, 2);
  EXPECT_EQ(run_program("keys tensor.").status, 2);
}

TEST(Help, OfACommandIsItsOwnHelp) {
  for (const char* command : {"run", "list", "keys", "show"}) {
    const Outcome outcome = run_program(std::string("help ") + command);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.out, run_program(std::string(command) + " --help").out);
  }
  EXPECT_EQ(run_program("help").out, run_program("--help").out);
  const Outcome unknown = run_program("help rum");
  EXPECT_EQ(unknown.status, 2);
  EXPECT_TRUE(unknown.err.ends_with("; did you mean 'run'?\n")) << unknown.err;
}

TEST(Help, TheVersionHasAShortOption) {
  const Outcome outcome = run_program("-V");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_TRUE(outcome.out.starts_with("stepcast ")) << outcome.out;
  EXPECT_EQ(outcome.out, run_program("--version").out);
}

}  // namespace
}  // namespace stepcast::app
