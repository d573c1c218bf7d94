// `stepcast import slurm`: a cluster of what Slurm knows, and a job packed into it or scattered over it.

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

/// Step and notes of a job on these nodes of the site of scenarios/slurm, whose leaf switches lead up a fourth of what
/// comes from below.
nlohmann::json job_on(const std::string& nodelist) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / ("site-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const Outcome imported = run_program(kSite + "--oversubscription 4 --nodelist '" + nodelist + "' --output " +
                                       (folder / "c.yaml").string());
  EXPECT_EQ(imported.status, 0) << imported.err;
  std::ofstream(folder / "job.yaml")
      << "cluster: ./c.yaml\nmodel: llama3-70b\n"
         "training: {global_batch: 256, micro_batch: 1, sequence: 8192}\n"
         "parallelism: {tensor: 8, sequence: true, pipeline: 4, order: [tensor, pipeline, data]}\n";
  const Outcome ran = run_program("run " + (folder / "job.yaml").string() + " --format json");
  std::filesystem::remove_all(folder);
  EXPECT_TRUE(ran.status == 0 || ran.status == 3) << ran.err;
  return nlohmann::json::parse(ran.out)["results"][0];
}

TEST(ImportSlurm, PackedAndScatteredJobsTakeUnlikeSteps) {
  const nlohmann::json packed = job_on("gpu[0001-0064]"),
                       scattered = job_on(
                           "gpu[0001-0002,0033-0034,0065-0066,0097-0098,"
                           "0129-0130,0161-0162,0193-0194,0225-0226,0257-0258,0289-0290,0321-0322,0353-0354,0385-0386,"
                           "0417-0418,0449-0450,"
                           "0481-0482,0513-0514,0545-0546,0577-0578,0609-0610,0641-0642,0673-0674,0705-0706,0737-0738,"
                           "0769-0770,0801-0802,"
                           "0833-0834,0865-0866,0897-0898,0929-0930,0961-0962,0993-0994]");
  EXPECT_EQ(packed["gpus"], 512);
  EXPECT_EQ(scattered["gpus"], 512);
  EXPECT_NE(packed["step_time_s"], scattered["step_time_s"]);
}

TEST(ImportSlurm, SaysOverHowManyLeavesTheJobIs) {
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
  EXPECT_THAT(said("--node dgx-h100"), HasSubstr("expected one topology.conf"));
  EXPECT_THAT(said(conf + "--node dgx-h10"), HasSubstr("did you mean 'dgx-h100'?"));
  EXPECT_THAT(said(conf + "--node dgx-h100 --oversubscription 0.5"), HasSubstr("--oversubscription: found '0.5'"));
  EXPECT_THAT(said(conf + "--node dgx-h100 --nodelist 'gpu[1'"), HasSubstr("--nodelist: list of nodes 'gpu[1'"));
  EXPECT_THAT(said("README.md --node dgx-h100"), HasSubstr("README.md:1"));
  EXPECT_EQ(run_program("import megatron --node dgx-h100 -- '--num-layers 2'").status, 2);
}

}  // namespace
}  // namespace stepcast::app
