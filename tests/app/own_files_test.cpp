// Folders of files that lie over the library's; docs/own-files.md is what is tried.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/app/program.h"
#include "tests/sanitized.h"

namespace stepcast::app {
namespace {

namespace fs = std::filesystem;

class OwnFiles : public testing::Test {
 protected:
  OwnFiles() : folder_(fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~OwnFiles() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  Outcome run(const std::string& arguments, const std::string& configs) const {
    return run_program(arguments, folder_, "STEPCAST_CONFIGS='" + configs + "'");
  }

  fs::path folder_;
};

/// Writes each example of the page into the file that its first line names; how many there are.
TEST_F(OwnFiles, ThoseOfTheDocumentationRun) {
  LEFT_TO_RELEASE();
  const std::string page = read_text(STEPCAST_SOURCE_DIR "/docs/own-files.md"), fence = "```yaml\n# ";
  int examples = 0;
  for (std::size_t at = page.find(fence); at != std::string::npos; at = page.find(fence, at + 1), ++examples) {
    const std::size_t name = at + fence.size(), text = page.find('\n', name) + 1;
    write("configs/" + page.substr(name, text - 1 - name), page.substr(text, page.find("```", text) - text));
  }
  EXPECT_EQ(examples, 9);
  const Outcome forecast = run("run configs/scenario.yaml", "configs");
  EXPECT_EQ(forecast.status, 0) << forecast.err;
  EXPECT_NE(forecast.out.find("on 32 GPUs"), std::string::npos) << forecast.out;

  for (const char* kind : {"gpus", "nodes", "links", "fabrics", "clusters", "models", "software"}) {
    const Outcome list = run(std::string("list ") + kind, "configs");
    EXPECT_EQ(list.status, 0) << list.err;
    EXPECT_NE(list.out.find("\nmy-"), std::string::npos) << list.out;
    EXPECT_NE(list.out.find(std::string("configs/") + kind + "/my-"), std::string::npos) << list.out;
  }
  const Outcome show = run("show gpus/h100-sxm5-80gb", "configs");
  EXPECT_NE(show.out.find("  configs/gpus/h100-sxm5-80gb.yaml\n"), std::string::npos) << show.out;
  EXPECT_NE(show.out.find("memory.efficiency"), std::string::npos) << show.out;
  EXPECT_NE(show.out.find("our measurement"), std::string::npos) << show.out;
  EXPECT_NE(show.out.find(STEPCAST_SOURCE_DIR "/configs/gpus/h100-sxm5-80gb.yaml:"), std::string::npos) << show.out;
}

TEST_F(OwnFiles, TheFirstFolderWinsAndTheLibraryHasTheRest) {
  const std::string link = "kind: network\nbandwidth: ";
  write("a/links/ours.yaml", link + "1 GB/s\n");
  write("b/links/ours.yaml", link + "2 GB/s\n");
  write("b/links/theirs.yaml", link + "3 GB/s\n");
  const auto bandwidth = [&](const std::string& name, const std::string& configs) {
    const Outcome outcome = run("show --format json links/" + name, configs);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return nlohmann::json::parse(outcome.out)[0]["bandwidth_bytes_per_s"].get<double>();
  };
  EXPECT_EQ(bandwidth("ours", "a:b"), 1.00e9);
  EXPECT_EQ(bandwidth("ours", "b:a:"), 2.00e9);
  EXPECT_EQ(bandwidth("theirs", "a:b"), 3.00e9);
  EXPECT_EQ(bandwidth("nvlink3", "a:b"), 25.0e9);

  // The user's folder lies under those of the variable and over the library's.
  write("xdg/stepcast/configs/links/ours.yaml", link + "4 GB/s\n");
  write("xdg/stepcast/configs/links/nvlink3.yaml", link + "5 GB/s\n");
  const std::string xdg = "XDG_CONFIG_HOME='" + (folder_ / "xdg").string() + "' ";
  const auto shown = [&](const std::string& name, const std::string& environment) {
    return run_program("show links/" + name, folder_, environment).out;
  };
  EXPECT_NE(shown("ours", xdg).find("4.00 GB/s"), std::string::npos);
  EXPECT_NE(shown("nvlink3", xdg).find("5.00 GB/s"), std::string::npos);
  EXPECT_NE(shown("ours", xdg + "STEPCAST_CONFIGS=a").find("1.00 GB/s"), std::string::npos);
  const std::string home = "XDG_CONFIG_HOME= HOME='" + (folder_ / "home").string() + "'";
  write("home/.config/stepcast/configs/links/ours.yaml", link + "6 GB/s\n");
  EXPECT_NE(shown("ours", home).find("6.00 GB/s"), std::string::npos);
}

TEST_F(OwnFiles, AFolderThatIsNotThereIsSaid) {
  const Outcome outcome = run("list gpus", "nowhere");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.err,
            "STEPCAST_CONFIGS: found 'nowhere', expected a folder (or several with ':' between them); there is none\n");
}

/// A program that was copied away from its library has the folders that are named; all that lies there is the user's.
TEST_F(OwnFiles, AreListedWhereThereIsNoLibrary) {
  LEFT_TO_RELEASE();
  const std::string program = (folder_ / "stepcast").string();
  fs::copy_file(STEPCAST_PROGRAM, program);
  const std::string named = "STEPCAST_CONFIGS='" STEPCAST_SOURCE_DIR "/configs'";
  const Outcome nodes = run_other(program, "list nodes", folder_, named);
  EXPECT_EQ(nodes.status, 0) << nodes.err;
  EXPECT_NE(nodes.out.find("configs/nodes/dgx-h100.yaml"), std::string::npos) << nodes.out.substr(0, 400);
  EXPECT_EQ(run("list nodes", "").out.find("configs/nodes/dgx-h100.yaml"), std::string::npos);
  EXPECT_NE(run_other(program, "list nodes", folder_, "").err.find("STEPCAST_CONFIGS may name them"),
            std::string::npos);
}

TEST_F(OwnFiles, ABrokenOneIsNamedAndTheOthersAreListed) {
  write("configs/gpus/broken.yaml", "sms: many\n");
  const Outcome outcome = run("list gpus", "configs");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.err.find("configs/gpus/broken.yaml:1:6: sms: found 'many'"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.out.find("h100-sxm5-80gb"), std::string::npos);
  EXPECT_EQ(run("show broken", "configs").status, 2);
}

TEST_F(OwnFiles, WhatIsNoFileIsNotRead) {
  write("configs/gpus/own.yaml", "base: t4\n");
  const std::string pipe = (folder_ / "configs/gpus/pipe.yaml").string();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const Outcome outcome = run("list gpus", "configs");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("\nown "), std::string::npos);
  EXPECT_EQ(outcome.out.find("pipe"), std::string::npos);
  EXPECT_EQ(run("show pipe", "configs").status, 2);
}

TEST_F(OwnFiles, AnUnknownKeyOfManyIsToldWhereAllAre) {
  write("configs/software/odd.yaml", "zzz: 1\n");
  const Outcome outcome = run("run " STEPCAST_SOURCE_DIR "/scenarios/quickstart.yaml --set software=odd", "configs");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find("software: found the unknown key 'zzz'"), std::string::npos) << outcome.err;
  EXPECT_TRUE(outcome.err.ends_with("('stepcast keys software' lists all)\n")) << outcome.err;
}

}  // namespace
}  // namespace stepcast::app
