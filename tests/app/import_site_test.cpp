// `stepcast import slurm`: a cluster of what Slurm knows, and a job packed into it or scattered over it.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/app/program.h"

namespace stepcast::app {
namespace {

using testing::HasSubstr;

const std::string kSite = "import slurm scenarios/slurm/topology.conf --node dgx-h100 ";

/// A job of 512 GPUs on these nodes of the site of scenarios/slurm, whose leaf switches lead up a fourth of what comes
/// from below.
Outcome site_job(const std::string& nodelist, const std::string& format) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / ("site-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const Outcome imported = run_program(kSite + "--oversubscription 4 --nodelist '" + nodelist + "' --output " +
                                       (folder / "cluster.yaml").string());
  EXPECT_EQ(imported.status, 0) << imported.err;
  std::ofstream(folder / "job.yaml") << "cluster: ./cluster.yaml\nmodel: llama3-8b\n"
                                        "training: {global_batch: 512, micro_batch: 1, sequence: 4096}\n"
                                        "data_parallel: {zero: 3}\nsoftware: pytorch-fsdp2\n";
  Outcome ran = run_program("run " + (folder / "job.yaml").string() + " --format " + format);
  std::filesystem::remove_all(folder);
  EXPECT_EQ(ran.status, 0) << ran.err;
  return ran;
}

std::string two_leaves_in_turn() {
  std::string list;
  for (int node = 1; node <= 32; ++node) list += fmt::format("{}{:04},{:04}", node == 1 ? "" : ",", node, node + 32);
  return "gpu[" + list + "]";
}

// docs/clusters.md has these figures.
TEST(ImportSlurm, NodesOfTwoLeavesInTurnWaitForTheirUpLinks) {
  const auto packed = nlohmann::json::parse(site_job("gpu[0001-0064]", "json").out)["results"][0];
  const auto in_turn = nlohmann::json::parse(site_job(two_leaves_in_turn(), "json").out)["results"][0];
  EXPECT_EQ(packed["gpus"], 512);
  EXPECT_GT(in_turn["step_time_s"].get<double>(), 1.3 * packed["step_time_s"].get<double>());
  EXPECT_EQ(in_turn["busiest_link"]["name"], "leaf01 -> spines");
  EXPECT_NE(packed["busiest_link"]["name"], "leaf01 -> spines");
}

TEST(ImportSlurm, ANoteSaysOverHowManyLeavesTheJobIs) {
  EXPECT_THAT(site_job("gpu[0001-0064]", "table").out, HasSubstr("the job's 64 nodes are on 2 of 32 leaf switches"));
}

TEST(ImportSlurm, WritesWhereEachLineIsFrom) {
  const Outcome told = run_program(kSite + "--nodelist 'gpu[0001-0008,0040]' --oversubscription 2");
  ASSERT_EQ(told.status, 0) << told.err;
  EXPECT_THAT(told.out, HasSubstr("# Made by stepcast import slurm topology.conf.\nnode: dgx-h100  # --node\n"));
  EXPECT_THAT(told.out, HasSubstr("{from: 'leaf01', to: 'spines', bandwidth: 51200 Gbit/s}"));
  const Outcome job = run_program(kSite + "--output -", STEPCAST_SOURCE_DIR, "SLURM_JOB_NODELIST='gpu[0003-0004]'");
  EXPECT_THAT(job.out, HasSubstr("nodelist: 'gpu[0003-0004]'  # SLURM_JOB_NODELIST\n"));
}

TEST(ImportSlurm, SaysWhatIsWrong) {
  const auto said = [](const std::string& words) {
    const Outcome outcome = run_program("import slurm " + words);
    EXPECT_EQ(outcome.status, 2) << words;
    EXPECT_EQ(outcome.out, "") << words;
    return outcome.err;
  };
  const std::string conf = "scenarios/slurm/topology.conf ";
  EXPECT_THAT(said(conf), HasSubstr("--node: missing"));
  EXPECT_THAT(said("--node dgx-h100"), HasSubstr("expected one: topology.conf or topology.yaml"));
  EXPECT_THAT(said(conf + "--node dgx-h10"), HasSubstr("did you mean 'dgx-h100'?"));
  EXPECT_THAT(said(conf + "--node dgx-h100 --oversubscription 0.5"), HasSubstr("--oversubscription: found '0.5'"));
  EXPECT_THAT(said(conf + "--node dgx-h100 --nodelist 'gpu[1'"), HasSubstr("--nodelist: list of nodes 'gpu[1'"));
  EXPECT_THAT(said("README.md --node dgx-h100"), HasSubstr("README.md:3:1: found 'How', expected pairs"));
  EXPECT_EQ(run_program("import megatron --node dgx-h100 -- '--num-layers 2'").status, 2);
}

}  // namespace
}  // namespace stepcast::app
