#include "app/commands/complete.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "app/command.h"
#include "app/options.h"
#include "tests/app/program.h"

namespace stepcast::app {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> words(const std::vector<std::string>& typed) {
  std::vector<std::string> all;
  for (const Candidate& each : candidates(typed)) all.push_back(each.word);
  return all;
}

TEST(Complete, CommandsAndOptions) {
  EXPECT_THAT(words({"va"}), ElementsAre("validate"));
  EXPECT_THAT(words({""}), Contains("list"));
  EXPECT_THAT(words({"ma"}), IsEmpty());
  EXPECT_THAT(words({"run", "--sch"}), ElementsAre("--schedule-diagram"));
  for (const Command* command : commands())
    EXPECT_THAT(words({std::string(command->name), "--he"}), ElementsAre("--help"));
}

TEST(Complete, NamesOfConfigurations) {
  EXPECT_THAT(words({"topology", "dgx-h1"}), ElementsAre("dgx-h100"));
  EXPECT_THAT(words({"collective", "--node", "dgx-h1"}), ElementsAre("dgx-h100"));
  EXPECT_THAT(words({"collective", "--node=dgx-h1"}), ElementsAre("--node=dgx-h100"));
  EXPECT_THAT(words({"collective", "--algorithm", "nv"}), ElementsAre("nvls", "nvls-tree"));
  EXPECT_THAT(words({"sensitivity", "--price", "nv"}), ElementsAre("nvlink=", "nvlink_latency="));
  EXPECT_THAT(words({"search", "--least", "network_"}), ElementsAre("network_latency"));
  EXPECT_THAT(words({"show", "gpus/h100-sxm5-8"}), ElementsAre("gpus/h100-sxm5-80gb"));
  EXPECT_THAT(words({"list", "so"}), ElementsAre("software"));
  EXPECT_THAT(words({"keys", "para"}), ElementsAre("parallelism", "parallelism."));
}

TEST(Complete, KeysOfSetLevelByLevelAndTheirValues) {
  EXPECT_THAT(words({"run", "a.yaml", "--set", "para"}), ElementsAre("parallelism."));
  EXPECT_THAT(words({"run", "a.yaml", "--set", "parallelism.tensor_m"}), ElementsAre("parallelism.tensor_method="));
  EXPECT_THAT(words({"run", "a.yaml", "--set", "pipeline.schedule=dual"}),
              ElementsAre("pipeline.schedule=dualpipe", "pipeline.schedule=dualpipe-v"));
  EXPECT_THAT(words({"run", "--set=parallelism.sequence=t"}), ElementsAre("--set=parallelism.sequence=true"));
  EXPECT_THAT(words({"sweep", "a.yaml", "--axis", "recompute=s"}), ElementsAre("recompute=selective"));
  EXPECT_THAT(words({"run", "--set", "model=gpt3"}), ElementsAre("model=gpt3-175b"));
  EXPECT_THAT(words({"collective", "--set", "transport.nvlink_s"}), ElementsAre("transport.nvlink_step="));
  EXPECT_THAT(words({"collective", "--set", "para"}), IsEmpty());
}

TEST(Complete, FilesAreTheShells) {
  EXPECT_THAT(words({"run", "scen"}), IsEmpty());
  EXPECT_THAT(words({"run", "--output", "x"}), IsEmpty());
  EXPECT_THAT(words({"unknown", "x"}), IsEmpty());
}

/// What is offered is what a wrong word is told.
TEST(Complete, FormatsAreThoseThatTheCommandTakes) {
  for (const std::string command :
       {"run scenarios/quickstart.yaml", "validate scenarios/quickstart.yaml", "list", "show ring", "keys",
        "collective --node dgx-h100", "calibrate", "fit calibrate/data/gemm_a100_pcie.csv"}) {
    const std::string error = run_program(command + " --format wrong").err;
    const std::vector<std::string> offered = words({command.substr(0, command.find(' ')), "--format", ""});
    EXPECT_FALSE(offered.empty()) << command;
    for (const std::string& format : offered) EXPECT_NE(error.find(format), std::string::npos) << command << error;
  }
}

TEST(Complete, BashReplacesWhatStandsBehindItsWordBreaks) {
  const std::string file = testing::TempDir() + "stepcast-complete-" + std::to_string(getpid()) + ".sh";
  const auto reply = [&](const std::string& line) {
    std::ofstream(file) << "source <('" STEPCAST_PROGRAM "' completion bash)\n"
                        << "COMP_LINE='" STEPCAST_PROGRAM " " << line << "'\nCOMP_POINT=${#COMP_LINE}\n"
                        << "_stepcast 2>/dev/null\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n";
    return run_other("/bin/bash", file, STEPCAST_SOURCE_DIR).out;
  };
  EXPECT_EQ(reply("topology dgx-h1"), "dgx-h100\n");
  EXPECT_EQ(reply("run a.yaml --set para"), "parallelism.\n");
  EXPECT_EQ(reply("run a.yaml --set pipeline.schedule=zb-h"), "zb-h1\nzb-h2\n");
  EXPECT_EQ(reply("run --format "), "table\njson\ncsv\n");
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace stepcast::app
