// Inputs that are no regular files: standard input, pipes, process substitution. They have no name that says what they
// are, and can be read but once.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/app/script.h"

namespace stepcast::app {
namespace {

namespace fs = std::filesystem;

TEST(Streams, AScenarioOrATableIsToldByItsFirstLine) {
  const Outcome file = run_program("run scenarios/quickstart.yaml --format csv");
  for (const std::string words :
       {"run - < scenarios/quickstart.yaml", "run /dev/stdin < scenarios/quickstart.yaml",
        "run <(cat scenarios/quickstart.yaml)", "run /dev/fd/5 5< scenarios/quickstart.yaml"}) {
    const Outcome stream = run_script("$stepcast " + words + " --format csv");
    EXPECT_EQ(stream.status, 0) << words << stream.err;
    EXPECT_EQ(stream.out, file.out) << words;
  }
  const std::string row = "base,cluster.nodes\nscenarios/quickstart.yaml,8\n";
  const Outcome table = run_script("printf '" + row + "' | $stepcast run - --format csv");
  EXPECT_EQ(table.status, 0) << table.err;
  EXPECT_EQ(table.out, file.out);  // what a row names is beside the working directory
}

TEST(Streams, WhatIsWrongInOneHasAPlace) {
  const Outcome outcome = run_script("printf 'name: x\\nmodle: y\\n' | $stepcast run -");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_TRUE(outcome.err.starts_with("/dev/stdin:2:1: found the unknown key 'modle', ")) << outcome.err;
  EXPECT_EQ(run_script("$stepcast run - < /dev/null").err, "/dev/stdin: the file is empty\n");
  EXPECT_EQ(run_script("$stepcast run - <&-").status, 2);
}

TEST(Streams, EveryCommandReadsThem) {
  for (const std::string words :
       {"topology <(printf '\\tGPU0\\tGPU1\\nGPU0\\tX\\tNV4\\nGPU1\\tNV4\\tX\\n')",
        "topology - < configs/clusters/selene.yaml", "validate --against <($stepcast validate P --format csv) P",
        "validate --against <($stepcast validate P --format json) P",
        "run scenarios/quickstart.yaml --profile <(printf 'gpu: a100-sxm4-80gb\\nsource: none\\n')",
        "collective --node dgx-a100-80gb --gpus 2 --op all_to_all --uneven <(printf '1,2\\n3,4\\n') --sizes 1MiB",
        "fit - --gpu a100-pcie-40gb < calibrate/data/gemm_a100_pcie.csv"}) {
    std::string script = "$stepcast " + words;
    for (std::size_t at; (at = script.find(" P")) != std::string::npos;)
      script.replace(at, 2, " scenarios/published/mtnlg_530b.csv");
    const Outcome outcome = run_script(script);
    EXPECT_EQ(outcome.status, 0) << words << outcome.err;
  }
}

TEST(Streams, YmlIsYaml) {
  const fs::path folder = fs::path(testing::TempDir()) / ("stepcast-yml-" + std::to_string(getpid()));
  fs::create_directories(folder / "configs");
  fs::copy(STEPCAST_SOURCE_DIR "/configs", folder / "configs", fs::copy_options::recursive);
  fs::rename(folder / "configs/models/gpt3-175b.yaml", folder / "configs/models/gpt3-175b.yml");
  fs::copy(STEPCAST_SOURCE_DIR "/scenarios/quickstart.yaml", folder / "below.yml");
  fs::copy(folder / "configs/clusters/selene.yaml", folder / "mine.yml");
  std::ofstream(folder / "a.yml") << "base: below\n";
  std::ofstream(folder / "b.yml") << "base: below.yml\ncluster: mine.yml\n";
  const std::string folder_configs = "STEPCAST_CONFIGS=" + (folder / "configs").string();
  EXPECT_EQ(run_script(folder_configs + " $stepcast run a.yml --format csv", folder.string()).out,
            run_program("run scenarios/quickstart.yaml --format csv").out);
  for (const std::string words : {"run b.yml --set cluster.gpus=64", "topology mine.yml --nodes 2"}) {
    const Outcome outcome = run_script(folder_configs + " $stepcast " + words, folder.string());
    EXPECT_EQ(outcome.status, 0) << words << outcome.err;
  }
  fs::remove_all(folder);
}

}  // namespace
}  // namespace stepcast::app
