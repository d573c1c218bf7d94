// `stepcast fit --runs` on steps that the model itself forecast: what made them must come back, in a file that `run`
// takes as its software.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tests/app/program.h"
#include "tests/sanitized.h"

namespace stepcast::app {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr const char* kHeader =
    "name,cluster.node,cluster.gpus,model.family,model.layers,model.hidden,model.heads,model.vocab,training.global_"
    "batch,"
    "training.micro_batch,training.sequence,parallelism.tensor,software";

class FitRuns : public testing::Test {
 protected:
  FitRuns() : folder_(fs::temp_directory_path() / ("stepcast-fit-runs-" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~FitRuns() override { fs::remove_all(folder_); }
  std::string file(const std::string& name) const { return (folder_ / name).string(); }

  std::string written(const std::string& name, const std::string& text) const {
    std::ofstream(file(name)) << text;
    return file(name);
  }

  /// Plans of one DGX H100 with the steps that are forecast under `settings`.
  std::string measured(const std::string& settings) const {
    std::vector<std::string> rows;
    for (const int layers : {5, 10})
      for (const int hidden : {1024, 4096})
        for (const int tensor : {1, 4}) {
          std::ostringstream row;
          row << "r" << rows.size() << ",dgx-h100,8,gpt," << layers << ',' << hidden << ",16,50304,16,1,1024," << tensor
              << ",megatron-core";
          rows.push_back(row.str());
        }
    std::string plans = std::string(kHeader) + "\n";
    for (const std::string& row : rows) plans += row + "\n";
    const Outcome told = run_program("run " + written("plans.csv", plans) + " --format json " + settings);
    EXPECT_EQ(told.status, 0) << told.err;
    const nlohmann::json results = nlohmann::json::parse(told.out)["results"];
    std::string table = std::string(kHeader) + ",measured.step_time\n";
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::ostringstream seconds;
      seconds.precision(12);
      seconds << std::fixed << results[i]["step_time_s"].get<double>();
      table += rows[i] + "," + seconds.str() + " s\n";
    }
    return written("runs.csv", table);
  }

 private:
  fs::path folder_;
};

TEST_F(FitRuns, WritesASoftwareThatRunTakes) {
  if (test::kSanitized) GTEST_SKIP() << "a fit's digits, not memory: checked in release";
  const std::string runs = measured("--set software.compute_share=0.8 --set software.host_per_kernel=40us");
  const Outcome fit = run_program("fit --runs " + runs + " --output " + file("site.yaml"));
  ASSERT_EQ(fit.status, 0) << fit.err;
  const std::string text = read_text(file("site.yaml"));
  EXPECT_THAT(text, HasSubstr("name: megatron-core-fitted\nbase: megatron-core\n"));
  EXPECT_THAT(text, HasSubstr("\ncompute_share: 0."));
  EXPECT_THAT(text, HasSubstr("\nhost_per_kernel: "));
  EXPECT_THAT(text, HasSubstr("# send_delay as in megatron-core: not told"));
  EXPECT_THAT(text, HasSubstr("by a fit without it"));
  const Outcome run = run_program("validate " + runs + " --set software=" + file("site.yaml") + " --format json");
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_LT(nlohmann::json::parse(run.out)["mape"].get<double>(), 0.02);
}

/// What runs say of their stack besides its file is in the file that is written, or that would not stand for them.
TEST_F(FitRuns, WritesWhatTheRunsSayOfTheirStack) {
  if (test::kSanitized) GTEST_SKIP() << "a fit's digits, not memory: checked in release";
  fs::create_directories(file("runs"));
  const std::string own = written("own.yaml", "base: megatron-core\nkernel_gap: 4 us\n");
  const std::string runs = measured("--set software=" + own +
                                    " --set software.transport.launch=9us --set software.elementwise_efficiency=0.5 "
                                    "--set software.compute_share=0.8 --set software.host_per_kernel=40us");
  const std::string site = file("runs/site.yaml");
  const Outcome fit = run_program("fit --runs " + runs + " --output " + site + " --set software=" + own +
                                  " --set software.source=told --set software.name=mine" +
                                  " --set software.transport.launch=9us --set software.elementwise_efficiency=0.5");
  ASSERT_EQ(fit.status, 0) << fit.err;
  EXPECT_THAT(read_text(site), HasSubstr("base: \"../own.yaml\"\nelementwise_efficiency: 0.5\ncompute_share: "));
  EXPECT_THAT(read_text(site), HasSubstr("\ntransport:\n  launch: 9us\n"));
  const Outcome run = run_program("validate " + runs + " --set software=" + site + " --format json");
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_LT(nlohmann::json::parse(run.out)["mape"].get<double>(), 0.02);
}

TEST_F(FitRuns, SaysWhatItCannotFit) {
  const Outcome none = run_program("fit --runs scenarios/t5-11b.yaml");
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(
      none.err,
      HasSubstr("no run there can be forecast and says measured.step_time, measured.trace or measured.peak_memory; 1 "
                "row is not used: it had nothing measured, neither measured.step_time nor measured.trace nor "
                "measured.peak_memory; the first, T5-11B, encoder and decoder over four stages"));
  const Outcome failed =
      run_program("fit --runs " + written("failed.csv",
                                          "name,cluster.node,model,training.global_batch,training.micro_batch,"
                                          "training.sequence,measured.outcome\n"
                                          "one,dgx-a100-80gb,bert-large,8,1,512,failed\n"
                                          "two,dgx-a100-80gb,bert-large,8,1,512,failed\n"));
  EXPECT_THAT(failed.err, HasSubstr("2 rows are not used: they failed when measured (measured.outcome), and a run that "
                                    "made no step, as one that ran out of memory, has no step time to fit to; the "
                                    "first, one\n"));
  const Outcome several =
      run_program("fit --runs scenarios/published/mosaic_llm_foundry.csv scenarios/published/megatron_sc21.csv");
  EXPECT_EQ(several.status, 2);
  EXPECT_THAT(several.err, HasSubstr("found runs of several stacks: "));
  const Outcome unlike = run_program("fit --runs " + written("unlike.csv",
                                                             "name,cluster.node,model,training.global_batch,training."
                                                             "micro_batch,training.sequence,parallelism.tensor,"
                                                             "software.base,software.kernel_gap,measured.step_time\n"
                                                             "a,dgx-h100,llama2-7b,8,1,512,8,nemo,,1 s\n"
                                                             "b,dgx-h100,llama2-7b,8,1,512,8,nemo,9 us,1 s\n"));
  EXPECT_EQ(unlike.status, 2);
  EXPECT_THAT(unlike.err, HasSubstr("found runs of several stacks: nemo (1), {base: nemo, kernel_gap: 9 us} (1); fit"));
  const Outcome forgotten = run_program("fit scenarios/published/korthikanti_2205_05198.csv");
  EXPECT_EQ(forgotten.status, 2);
  EXPECT_THAT(forgotten.err, HasSubstr("found a runs table, expected a table of multiplies or curves; --runs fits"));
  const std::string own = written("own.csv", read_text(file("unlike.csv")));
  const Outcome over = run_program("fit --runs " + own + " --set software=nemo --output " + own);
  EXPECT_EQ(over.status, 2);
  EXPECT_THAT(over.err, HasSubstr("own.csv', which is read as '"));
  EXPECT_EQ(read_text(own), read_text(file("unlike.csv")));
  const Outcome both = run_program("fit --runs scenarios/quickstart.yaml --node dgx-h100");
  EXPECT_EQ(both.status, 2);
  EXPECT_THAT(both.err, HasSubstr("--node: found beside --runs"));
  const std::string network = written("network.csv", "op,nodes,gpus,busbw_GBps_mean\nall_reduce,two,16,100\n");
  const Outcome word = run_program("fit --runs scenarios/published/korthikanti_2205_05198.csv --network " + network);
  EXPECT_EQ(word.status, 2);
  EXPECT_THAT(word.err, HasSubstr("network.csv:2:12: found 'two', expected a whole number of nodes"));
}

/// Rows of one plan, that one GPU takes some 0.3 s for, with what was measured of them.
std::string with_measured(const std::string& key, const std::vector<std::string>& values) {
  std::string table =
      "name,cluster.node,cluster.gpus,model,training.global_batch,training.micro_batch,training."
      "sequence,data_parallel.zero,software," +
      key + "\n";
  for (std::size_t i = 0; i < values.size(); ++i)
    table += "r" + std::to_string(i) + ",dgx-h100,8,llama2-7b," + std::to_string(8 * (i + 1)) +
             ",1,2048,3,pytorch-fsdp2," + values[i] + "\n";
  return table;
}

TEST_F(FitRuns, RefusesFiguresThatAreImpossible) {
  const Outcome fast =
      run_program("fit --runs " + written("ms.csv", with_measured("measured.step_time", {"0.5 s", "0.9 ms", "1 ms"})));
  EXPECT_EQ(fast.status, 2);
  EXPECT_THAT(fast.err, HasSubstr("ms.csv:3:1: measured.step_time: found 0.0009 s, expected at least the 0."));
  EXPECT_THAT(fast.err, HasSubstr(" s that its multiplies take at the peak of bf16; is it in another unit? (2 runs of "
                                  "the table are as impossible)"));
  const Outcome large =
      run_program("fit --runs " + written("gb.csv", with_measured("measured.peak_memory", {"60 GB", "60 TB"})));
  EXPECT_EQ(large.status, 2);
  EXPECT_THAT(large.err,
              HasSubstr("gb.csv:3:1: measured.peak_memory: found 54.6 TiB, expected at most the 80.0 GiB that a "
                        "GPU of the cluster has; is it in another unit?\n"));
}

TEST_F(FitRuns, SaysWhichFiguresAreHardToBelieve) {
  LEFT_TO_RELEASE();
  const Outcome slow =
      run_program("fit --runs " + written("s.csv", with_measured("measured.step_time", {"0.5 s", "1000 s"})));
  EXPECT_EQ(slow.status, 0);
  EXPECT_THAT(slow.err, HasSubstr("measured.step_time: 1 of 2 runs reach less than 0.1 % of their GPUs' peak; the "
                                  "first, r1, took 1000 s where "));
  const Outcome little =
      run_program("fit --runs " + written("mb.csv", with_measured("measured.peak_memory", {"40 MB", "40 GB"})));
  EXPECT_EQ(little.status, 0);
  EXPECT_THAT(little.err, HasSubstr("measured.peak_memory: 1 of 2 runs used less than half of what parameters and "
                                    "optimizer take; the first, r0, 38.1 MiB of "));
  const Outcome one_gpu =
      run_program("fit --runs " + written("per.csv", with_measured("measured.step_time", {"3 s", "5 s"})));
  EXPECT_EQ(one_gpu.status, 0);
  EXPECT_THAT(one_gpu.err, HasSubstr("measured.step_time: 2 of 2 runs took about as many times what is forecast as "
                                     "they have GPUs; the first, r0, 3 s where "));
  const Outcome fine =
      run_program("fit --runs " + written("ok.csv", with_measured("measured.step_time", {"0.5 s", "0.9 s"})));
  EXPECT_EQ(fine.status, 0);
  EXPECT_EQ(fine.err, "");
}

constexpr const char* kTraced = STEPCAST_SOURCE_DIR "/tests/app/traces/resnet-50-v100.pt.trace.json.gz";

/// ResNet-50 on one V100, as the published trace has it, with other keys behind.
std::string traced_run(const std::string& keys, const std::string& values) {
  return "name,cluster.node,cluster.gpus,model,training.global_batch,training.micro_batch,training.precision,"
         "training.optimizer,software" +
         keys + "\nresnet,dgx-1-v100-16gb,1,resnet-50,32,32,fp32,momentum,ngc-pytorch-2020" + values + "\n";
}

TEST_F(FitRuns, ReadsARunsTrace) {
  const std::string runs = written("traced.csv", traced_run(",measured.trace", std::string(",") + kTraced));
  const Outcome fit = run_program("fit --runs " + runs);
  ASSERT_EQ(fit.status, 0) << fit.err;
  EXPECT_THAT(fit.out, HasSubstr("# resnet: 0.128 s measured, "));
  EXPECT_THAT(fit.out, HasSubstr("; B: ProfilerStep#8 of "));
  EXPECT_THAT(fit.out, HasSubstr("#   part"));
  EXPECT_THAT(fit.out, HasSubstr("#     matrix multiplies"));
  EXPECT_THAT(fit.out, HasSubstr("#     host"));
}

TEST_F(FitRuns, RefusesATraceThatIsNone) {
  const std::string none = written("none.txt", "a note\n");
  const Outcome text = run_program("fit --runs " + written("text.csv", traced_run(",measured.trace", ",none.txt")));
  EXPECT_EQ(text.status, 2);
  EXPECT_THAT(text.err, HasSubstr("none.txt: found no trace, which measured.trace of 'resnet' names"));
  const Outcome missing = run_program("fit --runs " + written("gone.csv", traced_run(",measured.trace", ",gone.json")));
  EXPECT_EQ(missing.status, 2);
  EXPECT_THAT(missing.err, HasSubstr("gone.json: no such file"));
  const std::string both =
      written("both.csv", traced_run(",measured.trace,measured.step_time", std::string(",") + kTraced + ",10 ms"));
  const Outcome faster = run_program("fit --runs " + both);
  EXPECT_EQ(faster.status, 2);
  EXPECT_THAT(faster.err, HasSubstr("measured.step_time: found 0.01 s, less than the "));
}

}  // namespace
}  // namespace stepcast::app
