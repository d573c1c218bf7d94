#include "language/core/library.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "language/core/file_text.h"
#include "tests/language/fixtures.h"

namespace stepcast::language {
namespace {

namespace fs = std::filesystem;

/// A folder of files that goes away with it.
class Folder : public testing::Test {
 protected:
  Folder() : path_(fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~Folder() override { fs::remove_all(path_); }

  std::string write(const std::string& name, const std::string& text) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << text;
    return (path_ / name).string();
  }
  Node read(const std::string& name) const {
    Library library((path_ / "configs").string());
    return library.scenario(path_ / name, scenario_schema());
  }
  std::string wrong(const std::string& name) const {
    std::string what = complaint([&] { read(name); });
    const std::string prefix = shown_path(path_ / "x").substr(0, shown_path(path_ / "x").size() - 1);
    if (prefix.empty()) return what;
    for (std::size_t at; (at = what.find(prefix)) != std::string::npos;) what.erase(at, prefix.size());
    return what;
  }

  fs::path path_;
};

TEST_F(Folder, OwnKeysGoOverTheBaseAndTheBaseOverIncludes) {
  write("include.yaml", "name: include\nsource: include\nnote: include\n");
  write("base.yaml", "name: base\nsource: base\n");
  write("own.yaml", "base: base\ninclude: include.yaml\nname: own\n");
  const Node tree = read("own.yaml");
  EXPECT_EQ(tree.find("name")->scalar, "own");
  EXPECT_EQ(tree.find("source")->scalar, "base");
  EXPECT_EQ(tree.find("note")->scalar, "include");
  EXPECT_EQ(tree.find("base"), nullptr);
  EXPECT_EQ(tree.find("include"), nullptr);
}

TEST_F(Folder, TheLastOfSeveralIncludesWins) {
  write("a.yaml", "name: a\nnote: a\n");
  write("b.yaml", "name: b\n");
  write("own.yaml", "include: [a.yaml, b.yaml]\n");
  EXPECT_EQ(read("own.yaml").find("name")->scalar, "b");
  EXPECT_EQ(read("own.yaml").find("note")->scalar, "a");
}

TEST_F(Folder, NamesAreRelativeToTheFileTheyStandIn) {
  write("deep/er/base.yaml", "include: ../beside.yaml\nname: base\n");
  write("deep/beside.yaml", "note: beside\n");
  write("own.yaml", "base: deep/er/base.yaml\n");
  EXPECT_EQ(read("own.yaml").find("note")->scalar, "beside");
}

TEST_F(Folder, ABaseOfABlockIsAFileOfItsFolderOfConfigs) {
  write("configs/models/small.yaml", "family: gpt\nlayers: 2\nhidden: 64\nheads: 4\nvocab: 128\n");
  write("configs/models/deeper.yaml", "base: small\nlayers: 4\n");
  Library library(path_ / "configs");
  const Node deeper = library.expand_block(make_scalar("deeper", {"own.yaml", 1, 8}),
                                           find_key(scenario_schema(), "model")->type.fields(), "model");
  EXPECT_EQ(deeper.find("layers")->scalar, "4");
  EXPECT_EQ(deeper.find("hidden")->scalar, "64");
}

TEST_F(Folder, AFileThatNamesItselfMeansTheOneThatItLiesOver) {
  write("configs/models/small.yaml", "family: gpt\nlayers: 2\nhidden: 64\nheads: 4\nvocab: 128\n");
  write("own/models/small.yaml", "base: small\nlayers: 4\n");
  const Schema& schema = find_key(scenario_schema(), "model")->type.fields();
  const Node name = make_scalar("small", {"own.yaml", 1, 8});
  Library layered(std::vector<fs::path>{path_ / "own", path_ / "configs"});
  const Node small = layered.expand_block(name, schema, "model");
  EXPECT_EQ(small.find("layers")->scalar, "4");
  EXPECT_EQ(small.find("hidden")->scalar, "64");
  EXPECT_EQ(layered.names("models"), std::vector<std::string>{"small"});

  Library alone(path_ / "own");
  EXPECT_NE(complaint([&] { alone.expand_block(name, schema, "model"); }).find("in a circle"), std::string::npos);
}

TEST_F(Folder, CirclesAreShown) {
  write("a.yaml", "base: b\n");
  write("b.yaml", "include: c.yaml\n");
  write("c.yaml", "base: a\n");
  EXPECT_EQ(wrong("a.yaml"),
            "c.yaml:1:7: base: files name each other in a circle: a.yaml -> b.yaml -> c.yaml -> a.yaml");
}

TEST_F(Folder, ChainsOfFilesAreShort) {
  for (const std::string key : {"base", "include"}) {
    for (int i = 0; i < 40; ++i)
      write("f" + std::to_string(i) + ".yaml", key + ": f" + std::to_string(i + 1) + ".yaml\n");
    EXPECT_EQ(wrong("f0.yaml"), "f31.yaml:1:" + std::to_string(key.size() + 3) + ": " + key +
                                    ": found 'f32.yaml' at the end of a chain of 32 files that name each other (from "
                                    "f0.yaml), expected fewer");
  }
  write("f32.yaml", "note: end\n");
  EXPECT_EQ(read("f1.yaml").find("note")->scalar, "end");
}

TEST_F(Folder, IncludesAreFew) {
  write("x.yaml", "note: x\n");
  std::string list = "x.yaml";
  for (int i = 0; i < 100; ++i) list += ", x.yaml";
  write("own.yaml", "include: [" + list + "]\n");
  EXPECT_EQ(wrong("own.yaml"), "own.yaml:1:10: include: found 101 files, expected at most 100");
}

TEST_F(Folder, TheSameFileTwiceIsNoCircle) {
  write("shared.yaml", "note: shared\n");
  write("base.yaml", "include: shared.yaml\n");
  write("own.yaml", "base: base\ninclude: [shared.yaml, shared.yaml]\n");
  EXPECT_EQ(read("own.yaml").find("note")->scalar, "shared");
}

TEST_F(Folder, AMissingFileIsNamedWithTheNearest) {
  write("defaults.yaml", "note: x\n");
  write("own.yaml", "name: own\ninclude: defalts.yaml\n");
  EXPECT_EQ(wrong("own.yaml"),
            "own.yaml:2:10: include: found 'defalts.yaml', expected a file; there is no defalts.yaml; did you mean "
            "'defaults.yaml'?");
}

TEST_F(Folder, ALinkToNothingIsToldAndIsNoNearName) {
  fs::create_symlink("nowhere.yaml", fs::path(write("defaults.yaml", "note: x\n")).replace_filename("gone.yaml"));
  write("own.yaml", "name: own\ninclude: gone.yaml\n");
  EXPECT_EQ(wrong("own.yaml"),
            "own.yaml:2:10: include: found 'gone.yaml', expected a file; there is no gone.yaml; it is a link to "
            "'nowhere.yaml', which is not there");
  write("other.yaml", "name: own\ninclude: gone1.yaml\n");
  EXPECT_EQ(wrong("other.yaml"),
            "other.yaml:2:10: include: found 'gone1.yaml', expected a file; there is no gone1.yaml");
}

TEST_F(Folder, AFileWithNothingInItIsToldWhereItIsNamed) {
  write("empty.yaml", " \n");
  write("own.yaml", "name: own\ninclude: empty.yaml\n");
  EXPECT_EQ(wrong("own.yaml"), "own.yaml:2:10: include: found 'empty.yaml', which is empty, expected a file with keys");
}

TEST_F(Folder, WhatIsWrongInABaseIsPlacedInTheBase) {
  write("base.yaml", "name: [\n");
  write("own.yaml", "base: base\n");
  EXPECT_EQ(wrong("own.yaml"),
            "base.yaml:1:7: found a '[' that never ends, expected a closing ']', or a comma between two items");
}

TEST(Library, NamesAreSorted) {
  const std::vector<std::string> names = configs().names("models");
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_NE(std::find(names.begin(), names.end(), "gpt3-175b"), names.end());
  EXPECT_TRUE(configs().names("no-such-folder").empty());
}

}  // namespace
}  // namespace stepcast::language
