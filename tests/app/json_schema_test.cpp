// docs/scenario.schema.json, which editors complete and check scenarios by: it is what the program prints, every
// scenario names it, and what it takes and refuses is tried with a validator of JSON Schema.

#include "app/json_schema.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>

#include "language/core/yaml.h"
#include "tests/app/program.h"
#include "tests/sanitized.h"

namespace stepcast::app {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

const fs::path kRoot = STEPCAST_SOURCE_DIR;
const fs::path kScenarioSchema = kRoot / "docs/scenario.schema.json";

/// A scalar as YAML 1.2 resolves it for editors.
json resolved(const std::string& text) {
  static const std::regex whole("-?(0|[1-9][0-9]*)"), real("-?[0-9]+(\\.[0-9]*)?([eE][-+]?[0-9]+)?");
  if (text == "true" || text == "false") return text == "true";
  if (std::regex_match(text, whole) && text.size() < 18) return std::stoll(text);
  if (std::regex_match(text, real)) return std::stod(text);
  return text;
}

json as_json(const language::Node& node) {
  switch (node.kind) {
    case language::Node::Kind::nothing:
      return nullptr;
    case language::Node::Kind::scalar:
      return resolved(node.scalar);
    case language::Node::Kind::list: {
      json list = json::array();
      for (const language::Node& item : node.items) list.push_back(as_json(item));
      return list;
    }
    case language::Node::Kind::mapping: {
      json mapping = json::object();
      for (const language::Entry& entry : node.entries) mapping[entry.key] = as_json(entry.value);
      return mapping;
    }
  }
  return nullptr;
}

json as_json(const std::string& yaml) { return as_json(language::parse_yaml(yaml, "test.yaml")); }

std::vector<fs::path> yaml_files(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

/// A Python that has jsonschema; empty: none.
const std::string& python() {
  static const std::string found = [] {
    for (const std::string name : {"/usr/bin/python3", "python3"})
      if (run_other(name, "-c 'import jsonschema'", kRoot, "").status == 0) return name;
    return std::string();
  }();
  return found;
}

/// Those of the documents that the schema refuses, with why.
json refused_documents(const std::string& schema_text, const json& documents) {
  const fs::path folder = fs::path(testing::TempDir()) / ("json_schema." + std::to_string(getpid()));
  fs::create_directories(folder);
  std::ofstream(folder / "schema.json") << schema_text;
  std::ofstream(folder / "documents.json") << documents.dump();
  const Outcome outcome =
      run_other(python(), (kRoot / "tests/app/json_schema_failures.py").string() + " schema.json documents.json",
                folder, "PYTHONDONTWRITEBYTECODE=1");
  fs::remove_all(folder);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  return outcome.status == 0 ? json::parse(outcome.out) : json();
}

#define NEEDS_A_VALIDATOR() \
  if (python().empty()) GTEST_SKIP() << "no python3 with jsonschema (Debian: python3-jsonschema)"

TEST(JsonSchema, OfScenariosIsTheOneInDocs) {
  const Outcome printed = run_program("keys --format json-schema");
  ASSERT_EQ(printed.status, 0) << printed.err;
  expect_golden(kScenarioSchema, printed.out);
  EXPECT_EQ(run_program("keys scenario --format json-schema").out, printed.out);
}

TEST(JsonSchema, IsNamedInTheFirstLineOfEveryScenario) {
  const std::string start = "# yaml-language-server: $schema=";
  for (const fs::path& file : yaml_files(kRoot / "scenarios")) {
    const std::string text = read_text(file), line = text.substr(0, text.find('\n'));
    ASSERT_TRUE(line.starts_with(start)) << file << " begins with: " << line;
    EXPECT_TRUE(fs::equivalent(file.parent_path() / line.substr(start.size()), kScenarioSchema)) << file;
  }
}

TEST(JsonSchema, TakesEveryScenarioAndEveryFileOfConfigs) {
  LEFT_TO_RELEASE();
  NEEDS_A_VALIDATOR();
  json scenarios;
  for (const fs::path& file : yaml_files(kRoot / "scenarios")) scenarios[file] = as_json(read_text(file));
  scenarios["every key"] = as_json(read_text(kRoot / "tests/language/every_key.yaml"));
  EXPECT_EQ(refused_documents(read_text(kScenarioSchema), scenarios), json::object());
  for (const std::string kind : {"cluster", "fabric", "gpu", "link", "model", "node", "software"}) {
    json files;
    for (const fs::path& file : yaml_files(kRoot / "configs" / (kind == "software" ? kind : kind + "s")))
      files[file] = as_json(read_text(file));
    EXPECT_EQ(refused_documents(run_program("keys " + kind + " --format json-schema").out, files), json::object())
        << kind;
  }
}

TEST(JsonSchema, RefusesWhatTheProgramRefuses) {
  NEEDS_A_VALIDATOR();
  const std::string good =
      "cluster: {node: dgx-h100, nodes: 2}\nmodel: llama3-8b\n"
      "training: {global_batch: 64, micro_batch: 1, sequence: 4096}\n";
  const std::vector<std::string> bad{
      good + "paralelism: {tensor: 8}",                                              // an unknown key
      good + "parallelism: {tensors: 8}",                                            // of a group
      good + "parallelism: {tensor: 0}",                                             // out of range
      good + "parallelism: {tensor: two}",                                           // no number
      good + "parallelism: {sequence: 8}",                                           // no flag
      good + "pipeline: {schedule: 1f1bb}",                                          // no choice
      good + "recompute: {modules: [core_attention]}",                               // no choice, in a list
      good + "recompute: some",                                                      // a key that is a group, too
      good + "checkpoint: {every: 10, bandwidth: 25}",                               // no unit
      good + "checkpoint: {every: 10, bandwidth: 25 Gb/s}",                          // no such unit
      good + "checkpoint: {every: 10, bandwidth: 25  GB/s}",                         // two blanks
      good + "data_parallel: {bucket: -25 MB}",                                      // a sign
      good + "software: {base: megatron-core, overlap: 3}",                          // inside a block
      "model: llama3-8b\ntraining: {global_batch: 64, micro_batch: 1}",              // a key is missing
      "cluster: dgx\nmodel: llama3-8b\ntraining: {global_batch: 64}",                // a key of a group
      "cluster: {nodes: 2}\nmodel: m\ntraining: {global_batch: 8, micro_batch: 1}",  // of a block
      "cluster: {node: n, fabric: {kind: torus, radix: 64}}\nmodel: m\ntraining: {global_batch: 8, micro_batch: 1}",
      "cluster: c\nmodel: {family: mlp, network: [{op: linear, outs: 3}]}\ntraining: {global_batch: 8, micro_batch: 1}",
  };
  json documents{{"good", as_json(good)},
                 {"based", as_json("base: ./good.yaml\ntraining: {sequence: 1024}")},
                 {"included", as_json("include: [a.yaml, b.yaml]\ncluster: {nodes: 4}")}};
  for (std::size_t i = 0; i < bad.size(); ++i) documents[std::to_string(i)] = as_json(bad[i]);
  const json wrong = refused_documents(read_text(kScenarioSchema), documents);
  EXPECT_FALSE(wrong.contains("good")) << wrong["good"];
  EXPECT_FALSE(wrong.contains("based")) << wrong["based"];
  EXPECT_FALSE(wrong.contains("included")) << wrong["included"];
  for (std::size_t i = 0; i < bad.size(); ++i) EXPECT_TRUE(wrong.contains(std::to_string(i))) << bad[i];
}

TEST(JsonSchema, IsOfAKindOfFile) {
  const Outcome outcome = run_program("keys parallelism.tensor --format json-schema");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find("expected a kind of file: one of scenario, cluster, model"), std::string::npos)
      << outcome.err;
}

}  // namespace
}  // namespace stepcast::app
