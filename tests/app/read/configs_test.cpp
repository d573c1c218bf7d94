// Every file of configs/ and scenarios/ is read, alone and by the name that scenarios use.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>

#include "app/read/cluster.h"
#include "app/read/model.h"
#include "app/read/questions.h"
#include "tests/app/read/fixtures.h"

namespace stepcast::app {
namespace {

/// Reads a block by its file's name; what it says of its source.
struct Kind {
  const char* folder;
  const Schema& (*schema)();
  std::function<std::string(const Value&)> source;
};

std::vector<Kind> kinds() {
  return {
      {"gpus", gpu_schema, [](const Value& v) { return read_block(gpu_table(), v).source; }},
      {"links", link_schema, [](const Value& v) { return read_block(link_table(), v).source; }},
      {"nodes", node_schema, [](const Value& v) { return read_block(node_table(), v).spec.source; }},
      {"fabrics", fabric_schema, [](const Value& v) { return read_block(fabric_table(), v).source; }},
      {"models", model_schema, [](const Value& v) { return finish(read_block(model_table(), v), v).source; }},
      {"software", software_schema, [](const Value& v) { return read_block(software_table(), v).source; }},
      {"clusters", cluster_schema,
       [](const Value& v) {
         EXPECT_GT(finish(read_block(cluster_table(), v), v).gpus, 0u);
         return v.node->find("source") == nullptr ? std::string() : v.node->find("source")->scalar;
       }},
  };
}

TEST(Configs, EveryFileIsReadAndNamesItsSource) {
  Library library = configs();
  for (const Kind& kind : kinds()) {
    const std::vector<std::string> names = library.names(kind.folder);
    EXPECT_FALSE(names.empty()) << kind.folder;
    for (const std::string& name : names) {
      try {
        const Node file = library.expand_block(make_scalar(name, {"test", 1, 1}), kind.schema(), kind.folder);
        Value value;
        value.node = &file;
        value.path = kind.folder;
        value.library = &library;
        value.text = name;
        EXPECT_NE(kind.source(value), "") << kind.folder << '/' << name << " does not say where it is from";
        const Node* own = file.find("name");
        EXPECT_TRUE(own == nullptr || own->scalar == name) << kind.folder << '/' << name << " has another name";
      } catch (const InputError& error) {
        ADD_FAILURE() << error.what();
      }
    }
  }
}

TEST(Configs, EveryNodesUsualFabricIsThere) {
  Library library = configs();
  for (const std::string& name : library.names("nodes")) {
    EXPECT_EQ(complaint([&] { small_with("cluster: {node: " + name + ", nodes: 2}\ntraining: {global_batch: 1024}"); }),
              "")
        << name;
  }
}

TEST(Configs, OnlyKnownFoldersAreThere) {
  for (const auto& entry : std::filesystem::directory_iterator(STEPCAST_SOURCE_DIR "/configs")) {
    const std::string folder = entry.path().filename().string();
    const std::vector<Kind> all = kinds();
    const bool known = std::any_of(all.begin(), all.end(), [&](const Kind& kind) { return kind.folder == folder; });
    EXPECT_TRUE(known || folder == "profiles" || folder == "residuals.csv") << folder;
  }
}

TEST(Scenarios, EveryOneCanRun) {
  Library library = configs();
  const std::vector<std::string> paths = {STEPCAST_SOURCE_DIR "/scenarios"};
  for (const Question& question : read_questions(paths, {}, library)) {
    if (question.origin.find("/published/") != std::string::npos) continue;  // rows not built yet say why
    EXPECT_EQ(question.error, "") << question.origin;
  }
}

}  // namespace
}  // namespace stepcast::app
