// Broken inputs, each with its exact message. STEPCAST_UPDATE_GOLDEN=1 app_tests --gtest_filter='*Broken*' rewrites
// them.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tests/app/program.h"
#include "tests/app/report_band.h"

namespace stepcast::app {
namespace {

const std::string kFolder = STEPCAST_SOURCE_DIR "/tests/golden/errors/";

std::vector<std::string> inputs() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder))
    if (entry.path().extension() != ".txt" && entry.path().stem() != "cyclic_include_b")
      files.push_back(entry.path().filename());
  std::ranges::sort(files);
  return files;
}

class Broken : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Inputs, Broken, testing::ValuesIn(inputs()), [](const auto& each) {
  std::string name = each.param;
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

TEST_P(Broken, GetsItsExactMessage) {
  const Outcome outcome = run_program("run " + GetParam(), kFolder);
  // A bad row stands beside the good ones; where there are none of these, the output is all the same there.
  const bool table = GetParam().starts_with("table_") && (outcome.status == 0 || outcome.status == 1);
  if (!table) {
    EXPECT_TRUE(outcome.status == 2 || outcome.status == 3) << outcome.status;
  }
  const std::string golden = kFolder + std::filesystem::path(GetParam()).stem().string() + ".txt";
  expect_golden(golden,
                "exit status " + std::to_string(outcome.status) + "\n" + outcome.err + band_apart(outcome.out).report);
}

TEST(Broken, ThereAreAtLeast25) { EXPECT_GE(inputs().size(), 25u); }

TEST(Broken, CommandsAndOptionsNameTheNearest) {
  const std::string unknown = run_program("rum").err;
  EXPECT_TRUE(unknown.starts_with("stepcast: unknown command 'rum', expected one of run, diff, validate, ")) << unknown;
  EXPECT_TRUE(unknown.ends_with("; did you mean 'run'?\n")) << unknown;
  EXPECT_EQ(run_program("rum").status, 2);
  EXPECT_TRUE(run_program("version").err.ends_with(", --help, --version; did you mean '--version'?\n"));
  EXPECT_TRUE(run_program("--hepl").err.starts_with("stepcast: unknown option '--hepl', expected one of run, "));
  EXPECT_TRUE(run_program("collective --node dgx-a100-80gb --algorithm rign")
                  .err.starts_with("--algorithm: found 'rign', expected one of ring, tree, "));
  EXPECT_EQ(run_program("run").status, 2);
  EXPECT_EQ(run_program("run scenarios/quickstart.yaml --format yaml").err,
            "--format: found 'yaml', expected one of table, json, csv\n");
  EXPECT_EQ(run_program("run scenarios/quickstart.yaml --formt json").status, 2);
  EXPECT_EQ(run_program("run scenarios/quickstart.yaml --set parallelism.tensr=4").status, 2);
  EXPECT_EQ(run_program("run nowhere.yaml").status, 2);
  EXPECT_EQ(
      run_program("run scenarios/quickstart.yaml --schedule-diagram out.svg").err,
      "out.svg: no such file or folder, expected a scenario (.yaml, .yml, .json), a runs table (.csv) or a folder of "
      "them (a picture goes to --schedule-diagram=FILE, with the =)\n");
  EXPECT_EQ(run_program("validate scenarios/quickstart.yaml --against scenarios/mlp.yaml").err,
            "scenarios/mlp.yaml: found a scenario, expected what validate --format csv or json wrote\n");
  EXPECT_EQ(run_program("run scenarios/mlp.yaml --set imperfections.slow_gpu=8 --set imperfections.gpu_speed=0.5").err,
            "--set imperfections.slow_gpu=8: imperfections.slow_gpu: found 8, expected a GPU from 0 to 7\n");
}

TEST(Broken, AnOptionGivenAsNothingIsNamed) {
  for (const auto& [words, option] : std::vector<std::pair<std::string, std::string>>{
           {"run scenarios/mlp.yaml", "output"},
           {"run scenarios/mlp.yaml", "trace"},
           {"run scenarios/mlp.yaml", "profile"},
           {"validate", "residuals"},
           {"validate", "against"},
           {"search scenarios/mlp.yaml", "emit"},
           {"search scenarios/mlp.yaml", "budget"},
           {"collective --node dgx-a100-80gb", "plot"},
           {"collective --node dgx-a100-80gb", "compare"},
           {"topology dgx-a100-80gb", "output"},
           {"topology dgx-a100-80gb --links", "nodes"},
           {"calibrate --bundle x", "out"},
           {"calibrate", "import"},
           {"fit calibrate/data/gemm_a100_pcie.csv --gpu a100-pcie-40gb", "output"},
           {"list gpus", "output"},
           {"show dgx-2", "output"},
           {"keys model", "output"}}) {
    const Outcome outcome = run_program(words + " --" + option + " ''");
    EXPECT_EQ(outcome.status, 2) << words;
    EXPECT_EQ(outcome.err, "--" + option + ": found '', expected a value, or the option left out\n");
  }
  EXPECT_EQ(run_program("run ''").err,
            "stepcast: found an empty word, expected a name or a file, or the word left out\n");
}

TEST(Broken, WordsBehindTheVersionAreNotIgnored) {
  EXPECT_EQ(run_program("-V run").err, "-V: found 'run', expected nothing behind it\n");
  EXPECT_EQ(run_program("--help run").out, run_program("help run").out);
}

TEST(Broken, TheOptionThatWasUsedIsNamed) {
  EXPECT_TRUE(run_program("run scenarios/mlp.yaml --profile foo")
                  .err.starts_with("--profile: profile: found 'foo', expected a file of configs/profiles/"));
  EXPECT_EQ(run_program("run scenarios/mlp.yaml --profile foo --set profile=bar").err,
            "--set profile=bar: profile: found 'bar' beside 'foo' of --profile, expected one of the two\n");
  EXPECT_TRUE(run_program("collective --node dgx-2 --set transport.nvlink=1us")
                  .err.starts_with("--set transport.nvlink=1us: found the unknown key 'software.transport.nvlink', "));
}

TEST(Broken, OfKeysThatDoNotGoTogetherTheOneOfAFlagIsNamed) {
  const std::string run = "run scenarios/quickstart.yaml --set ";
  EXPECT_EQ(
      run_program(run + "parallelism.pipeline=5").err,
      "--set parallelism.pipeline=5: parallelism.pipeline: tensor 8 x pipeline 5 x data 1 is 40 GPUs, the cluster "
      "has 64\n");
  EXPECT_EQ(run_program(run + "training.micro_batch=3").err,
            "--set training.micro_batch=3: training.micro_batch: global_batch 64 is not a multiple of micro_batch 3 x "
            "data 1\n");
  EXPECT_EQ(
      run_program(run + "cluster.nodes=3").err.rfind("--set cluster.nodes=3: cluster.nodes: tensor 8 x pipeline 8", 0),
      0u);
}

TEST(Broken, OptionsOfAnotherKindOfInputAreNotIgnored) {
  const std::string multiplies = "fit calibrate/data/gemm_a100_pcie.csv --gpu a100-pcie-40gb ";
  const std::string curves = "fit calibrate/data/nccl/curves.csv --check ";
  const auto found_with = [](const std::string& option, const std::string& kind) {
    return option + ": found with " + kind + ", which makes nothing of it; expected it left out\n";
  };
  EXPECT_EQ(run_program(multiplies + "--check").err, found_with("--check", "a table of multiplies"));
  EXPECT_EQ(run_program(multiplies + "--set a=b").err, found_with("--set", "a table of multiplies"));
  EXPECT_EQ(run_program(curves + "--launch 7us").err, found_with("--launch", "a table of curves"));
  EXPECT_EQ(run_program("fit scenarios/quickstart.yaml --node dgx-2 --gpu a10").err,
            found_with("--gpu", "logs of nccl-tests"));
  EXPECT_EQ(run_program(curves + "--software nccl-h100").err, found_with("--software", "a table of curves"));
  EXPECT_EQ(run_program("calibrate --import x.json --node nope").err,
            "--node: found beside --import, which makes nothing of it; expected one of the two\n");
  EXPECT_EQ(run_program("collective --node dgx-2 --explain --format csv").err,
            "--explain: found beside --format csv, expected table\n");
  EXPECT_EQ(run_program("calibrate --import configs").err, "configs: found a directory, expected a file\n");
}

TEST(Broken, AFileWithNothingInItIsToldWhereItIsNamed) {
  EXPECT_EQ(run_program("run scenarios/mlp.yaml --set model=/dev/null").err,
            "--set model=/dev/null: model: found '/dev/null', which is empty, expected a file with keys, as those of "
            "configs/models/ have\n");
}

TEST(Broken, ATimeThatNothingCanHoldSaysWhatTakesIt) {
  const std::string start = "scenarios/quickstart.yaml: the step would take too long: ";
  for (const auto& [setting, why] : std::vector<std::pair<std::string, std::string>>{
           {"cluster.node.gpu.peak.fp16=1FLOP/s", "one multiply takes more than 106 days at cluster.node.gpu.peak"},
           {"cluster.node.gpu.memory.bandwidth=1B/s",
            "one elementwise kernel takes more than 106 days at cluster.node.gpu.memory.bandwidth"},
           {"cluster.nic_bandwidth=10B/s", "one collective takes more than 106 days at the bandwidth of the links"},
           {"cluster.nic_bandwidth=1bit/s", "a flow of 6.00 MiB at 0.0995 B/s takes more than 106 days"},
           {"input.preprocessing=5000000s",
            "preparing a step's samples takes more than 106 days at input.preprocessing"},
           {"checkpoint.every=1 --set checkpoint.bandwidth=1B/s",
            "writing a checkpoint takes more than 106 days at checkpoint.bandwidth"}})
    EXPECT_EQ(run_program("run scenarios/quickstart.yaml --set " + setting).err, start + why + "\n");
}

TEST(Broken, WhatAnOptionWasGivenIsQuotedShort) {
  const std::string x(5000, 'x');
  for (const std::string& words :
       {"run scenarios/mlp.yaml --set training.micro_batch=" + x, "run scenarios/mlp.yaml --set " + x + "=1",
        "run scenarios/mlp.yaml --format " + x, "run scenarios/mlp.yaml --" + x, "list " + x, "keys " + x, x}) {
    const Outcome outcome = run_program(words);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_LT(outcome.err.size(), 900u) << outcome.err;
  }
}

TEST(Broken, WordsOfACommandAreFew) {
  const Outcome outcome =
      run_program("run scenarios/quickstart.yaml $(yes -- '--set training.micro_batch=2' | head -5001)");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.err, "stepcast: found 10003 words, expected at most 10000 (many files: give their folder)\n");
}

TEST(Broken, LeavesNoFileBehind) {
  const std::string target = testing::TempDir() + "not-written.json";
  std::filesystem::remove(target);
  EXPECT_EQ(run_program("run unknown_key.yaml --format json --output " + target, kFolder).status, 2);
  EXPECT_FALSE(std::filesystem::exists(target));
  EXPECT_EQ(run_program("run scenarios/quickstart.yaml --output /nowhere/at/all.json").status, 1);
}

}  // namespace
}  // namespace stepcast::app
