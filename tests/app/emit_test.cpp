// stepcast emit and stepcast import from the command line.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/app/program.h"
#include "tests/sanitized.h"

namespace stepcast::app {
namespace {

using testing::HasSubstr;

struct EmittedScenario {
  const char *scenario, *framework, *golden;
};
constexpr EmittedScenario kEmitted[] = {
    {"scenarios/quickstart.yaml", "megatron", "quickstart.sh"},
    {"scenarios/llama2-70b-hsdp.yaml", "deepspeed", "llama2-70b-hsdp.json"},
    {"scenarios/well-known/torchtitan-llama-3-405b-512-h100.yaml", "torchtitan", "llama-3-405b-512-h100.toml"},
    {"scenarios/llama3-8b-context-128k.yaml", "nanotron", "llama3-8b-context-128k.yaml"},
    {"scenarios/gpt3-175b-1024-a100.yaml", "nemo", "gpt3-175b-1024-a100.yaml"},
    {"scenarios/mixtral-8x7b-64-h100.yaml", "megatron-bridge", "mixtral-8x7b-64-h100.yaml"},
    {"scenarios/llama2-7b-zero3.yaml", "hf-trainer", "llama2-7b-zero3.sh"}};

class LaunchLines : public testing::Test {
 protected:
  LaunchLines() { std::filesystem::create_directories(folder_); }
  std::string file(const std::string& name) const { return (folder_ / name).string(); }

 private:
  const std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) / "launch-lines";
};

double step_time(const std::string& scenario) {
  const Outcome ran = run_program("run " + scenario + " --format json");
  EXPECT_EQ(ran.err, "") << scenario;
  return nlohmann::json::parse(ran.out).at("results").at(0).at("step_time_s").get<double>();
}

/// What stands behind FILE in the line that says how to read a text back.
std::string settings_in(const std::string& emitted) {
  const std::size_t line = emitted.find("Read it back: "), from = emitted.find(" FILE", line) + 5;
  return emitted.substr(from, emitted.find('\n', from) - from);
}

TEST_F(LaunchLines, AreTheGoldenOnes) {
  for (const EmittedScenario& each : kEmitted) {
    const Outcome emitted = run_program(std::string("emit ") + each.scenario + " --to " + each.framework);
    EXPECT_EQ(emitted.err, "");
    expect_golden(std::string(STEPCAST_SOURCE_DIR "/tests/golden/emit/") + each.golden, emitted.out);
  }
}

TEST_F(LaunchLines, ReadBackAsTheirCommentSaysHaveTheSameForecast) {
  LEFT_TO_RELEASE();
  for (const EmittedScenario& each : kEmitted) {
    const std::string started = file(each.golden), scenario = file(std::string(each.golden) + ".scenario.yaml");
    const Outcome emitted =
        run_program(std::string("emit ") + each.scenario + " --to " + each.framework + " --output " + started);
    ASSERT_EQ(emitted.status, 0) << emitted.err;
    const Outcome imported = run_program(
        fmt::format("import {} {}{} --output {}", each.framework, started, settings_in(read_text(started)), scenario));
    ASSERT_EQ(imported.status, 0) << imported.err;
    EXPECT_DOUBLE_EQ(step_time(scenario), step_time(each.scenario)) << each.scenario;
  }
}

// A scenario names files from beside it, a word of --set from the working directory, and what is written from its
// folder.
TEST_F(LaunchLines, NameFilesFromWhereTheyAreRead) {
  const std::filesystem::path site(file("site"));
  std::filesystem::create_directories(site);
  std::filesystem::create_directories(file("out"));
  std::filesystem::copy_file(STEPCAST_SOURCE_DIR "/configs/fabrics/rail-fat-tree-ndr.yaml", site / "ours.yaml",
                             std::filesystem::copy_options::overwrite_existing);
  std::ofstream(site / "asked.yaml") << "cluster: {node: dgx-h100, nodes: 2, fabric: ./ours.yaml}\nmodel: llama2-7b\n"
                                        "training: {global_batch: 64, micro_batch: 1, sequence: 512}\n";
  const std::string folder = file("");
  const Outcome emitted = run_program("emit site/asked.yaml --to megatron --output out/train.sh", folder);
  ASSERT_EQ(emitted.status, 0) << emitted.err;
  const std::string settings = settings_in(read_text(file("out/train.sh")));
  EXPECT_THAT(settings, HasSubstr("--set cluster.fabric=./site/ours.yaml"));
  const Outcome back = run_program("import megatron out/train.sh --output out/back.yaml" + settings, folder);
  ASSERT_EQ(back.status, 0) << back.err;
  EXPECT_THAT(read_text(file("out/back.yaml")), HasSubstr("../site/ours.yaml"));
  EXPECT_DOUBLE_EQ(step_time(file("out/back.yaml")), step_time((site / "asked.yaml").string()));
}

TEST_F(LaunchLines, OfTheBestPlanOfASearchStartIt) {
  LEFT_TO_RELEASE();
  const std::string search =
      "search scenarios/quickstart.yaml --set model.layers=8 --set training.global_batch=16 --set "
      "pipeline.virtual_stages=1 --set pipeline.schedule=1f1b --fix parallelism.context --emit ";
  const std::string started = file("best.sh"), best = file("best.yaml"), back = file("back.yaml");
  ASSERT_EQ(run_program(search + "megatron --output " + started).status, 0);
  ASSERT_EQ(run_program(search + "yaml --output " + best).status, 0);
  const Outcome imported =
      run_program("import megatron " + started + settings_in(read_text(started)) + " --output " + back);
  ASSERT_EQ(imported.status, 0) << imported.err;
  EXPECT_DOUBLE_EQ(step_time(back), step_time(best));
}

TEST_F(LaunchLines, MayBeImportedAsWordsOrFromAPipe) {
  const std::string flags =
      "torchrun --nnodes 2 --nproc-per-node 8 pretrain_gpt.py --num-layers 8 --hidden-size 1024 "
      "--num-attention-heads 16 --seq-length 1024 --max-position-embeddings 1024 --micro-batch-size 1 "
      "--global-batch-size 32 --bf16 --vocab-size 51200";
  const Outcome words = run_program("import megatron '" + flags + "' --set cluster.node=dgx-h100");
  EXPECT_THAT(words.out, HasSubstr("gpus: 16  # --nnodes, line 1"));
  EXPECT_THAT(words.out, HasSubstr("node: dgx-h100  # --set"));
  const Outcome hydra = run_program(
      "import nemo 'model.num_layers=8 model.hidden_size=1024 model.num_attention_heads=16 "
      "model.encoder_seq_length=1024 "
      "model.micro_batch_size=1 model.global_batch_size=32 trainer.num_nodes=1 trainer.devices=8' --set "
      "cluster.node=dgx-h100 --set model.vocab=51200");
  EXPECT_THAT(hydra.out, HasSubstr("gpus: 8  # trainer.num_nodes, line 1"));
  std::ofstream(file("flags.txt")) << flags;
  const Outcome piped = run_program("import megatron - --set cluster.node=dgx-h100 < " + file("flags.txt"));
  EXPECT_EQ(piped.out.substr(piped.out.find("cluster:")), words.out.substr(words.out.find("cluster:")));
}

TEST_F(LaunchLines, AreReadAsTheScriptIsStarted) {
  const std::string flags =
      " --num-layers 8 --hidden-size 1024 --num-attention-heads 16 --seq-length 1024 --max-position-embeddings 1024 "
      "--micro-batch-size 1 --global-batch-size 32 --bf16 --vocab-size 51200 --tensor-model-parallel-size $2 "
      "--multiple-of 256 --lr $1 $EXTRA";
  std::ofstream(file("train.sh")) << "[ -n \"$KEY\" ] && EXTRA=--swiglu || EXTRA=\n"
                                  << "torchrun --nnodes 1 --nproc-per-node 8 pretrain_gpt.py" << flags << "\n";
  const std::string import = "import megatron " + file("train.sh") + " --set cluster.node=dgx-h100";
  const auto told = [&](const std::string& words) {
    const Outcome outcome = run_program(import + words);
    return outcome.status == 0 ? outcome.out : outcome.err;
  };
  EXPECT_THAT(told(""), HasSubstr("--env KEY=VALUE"));
  EXPECT_THAT(told(" --env KEY= --ignore multiple-of"),
              HasSubstr("argument 2 of the script is not known: give its arguments at the end"));
  EXPECT_THAT(told(" --env KEY= -- 1 4"), HasSubstr("or --ignore --multiple-of where it changes nothing"));
  for (const char* const ignored : {" --ignore --multiple-of", " --ignore=--multiple-of", " --ignore multiple-of"}) {
    const std::string text = told(" --env KEY=x" + std::string(ignored) + " -- '' 4");
    EXPECT_THAT(text, AllOf(HasSubstr("activation: swiglu"), HasSubstr("tensor: 4  # --tensor-model-parallel-size"),
                            HasSubstr("bash " + file("train.sh") + " '' 4\n"), HasSubstr("(--ignore)")));
  }
  EXPECT_THAT(told(" --env KEY= --ignore --set"), HasSubstr("--ignore: found '--set', expected a name that is there"));
  EXPECT_THAT(told(" 4"), HasSubstr("found 2 configurations, expected one file, or flags in one word; arguments of a "
                                    "script stand behind --"));
  EXPECT_THAT(run_program("import slurm x --node dgx-h100 --env A=1").err,
              HasSubstr("--env: found with a site's network"));
  EXPECT_THAT(run_program("import megatron '' -- 1").err, HasSubstr("found an empty word"));
}

TEST_F(LaunchLines, ThatCannotBeAreRefusedByName) {
  const auto refused = [](const std::string& words, const std::string& why) {
    const Outcome outcome = run_program(words);
    EXPECT_EQ(outcome.status, 2) << words;
    EXPECT_EQ(outcome.out, "") << words;
    EXPECT_THAT(outcome.err, HasSubstr(why)) << words;
  };
  refused("emit", "no scenario given");
  refused("emit scenarios/quickstart.yaml", "--to: missing, expected a framework");
  refused("emit scenarios/quickstart.yaml --to megatrn", "--to: found 'megatrn', expected one of megatron,");
  refused("emit scenarios/quickstart.yaml scenarios/mlp.yaml --to megatron", "found 2 scenarios, expected one");
  refused("emit scenarios/published/mtnlg_530b.csv --to megatron", "found a table or a stream");
  refused("emit scenarios/quickstart.yaml --to nanotron", "pipeline.schedule: found 'interleaved-1f1b'");
  const std::string bf16 =
      "emit scenarios/llama3-8b-context-128k.yaml --set data_parallel.gradient_precision=bf16 --to nanotron";
  refused(bf16 + " --set software.main_gradient_precision=fp32",
          "data_parallel.gradient_precision: found 'bf16' beside");
  refused("emit scenarios/quickstart.yaml --to megatron --set parallelism.tensor=7", "parallelism.tensor");
  refused("emit scenarios/quickstart.yaml --to megatron --set training.optimizer=lion",
          "training.optimizer: found 'lion', expected adam, sgd, momentum or none");
  refused("emit scenarios/llama2-7b-zero3.yaml --to deepspeed --set training.optimizer=adafactor",
          "training.optimizer: found 'adafactor', expected adam");
  refused("import", "no framework given");
  refused("import nemmo x.yaml", "found 'nemmo', expected one of megatron");
  refused("import megatron", "no configuration given");
  refused("import megatron nowhere.sh", "nowhere.sh");
  refused("import megatron a b", "found 2 configurations");
  refused("import megatron 'x --num-layers 4'", "model.hidden: missing");
  // Where a plan contradicts itself the place is that of the words it was read from.
  refused(
      "import megatron 'x --num-layers 4 --hidden-size 1024 --num-attention-heads 16 --seq-length 128 "
      "--micro-batch-size "
      "1 --global-batch-size 8 --vocab-size 1000 --nnodes 1 --nproc-per-node 8 --tensor-model-parallel-size 3' --set "
      "cluster.node=dgx-h100",
      "the command line:1:");
  refused("import nanotron scenarios/quickstart.yaml", "did you mean");
}

TEST_F(LaunchLines, AreCompleted) {
  EXPECT_THAT(run_program("complete -- emit scenarios/quickstart.yaml --to ''").out, HasSubstr("torchtitan"));
  EXPECT_THAT(run_program("complete -- search x.yaml --emit ''").out, HasSubstr("yaml"));
  EXPECT_THAT(run_program("complete -- import ''").out, HasSubstr("nanotron"));
}

}  // namespace
}  // namespace stepcast::app
