#include "language/questions.h"

#include <gtest/gtest.h>

#include <fstream>
#include <new>
#include <stdexcept>

#include "language/core/file_text.h"
#include "tests/language/fixtures.h"
#include "tests/sanitized.h"

namespace stepcast::language {
namespace {

using Strings = std::vector<std::string>;

const std::string kOneScenario = STEPCAST_SOURCE_DIR "/scenarios/quickstart.yaml";

/// One file of the temporary folder, by its full name.
std::string write_scenario(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

std::vector<Question> ask(const std::string& path, const Strings& settings = {}) {
  Library library = configs();
  return read_questions(Strings{path}, settings, library);
}

/// What is wrong with it, without the folder of the temporary files.
std::string without_folder(std::string what) {
  const std::string any = shown_path(testing::TempDir() + "x"), folder = any.substr(0, any.size() - 1);
  if (folder.empty()) return what;
  for (std::size_t at; (at = what.find(folder)) != std::string::npos;) what.erase(at, folder.size());
  return what;
}

std::string error_of(const Question& question) { return without_folder(question.error); }

TEST(Set, GoesOverTheFileInTheOrderGiven) {
  const Question question = ask(kOneScenario, {"training.micro_batch=2", "training.micro_batch=4"}).at(0);
  EXPECT_EQ(question.error, "");
  EXPECT_EQ(question.scenario.training.micro_batch, 4);
  EXPECT_EQ(question.scenario.training.global_batch, 64);
}

TEST(Set, ReachesIntoABlockGivenByName) {
  const Question question = ask(kOneScenario, {"model.layers=48", "cluster.node.gpu.memory.size=160 GiB"}).at(0);
  EXPECT_EQ(question.error, "");
  EXPECT_EQ(question.scenario.model.layers, 48);
  EXPECT_EQ(question.scenario.model.hidden, 12288);
  EXPECT_EQ(question.scenario.cluster.gpu.memory.value, 160LL << 30);
  EXPECT_EQ(question.scenario.cluster.gpu.name, "a100-sxm4-80gb");
}

TEST(Set, ReplacesABlockByItsName) {
  const Question question = ask(kOneScenario, {"model=llama2-7b", "software=megatron-core"}).at(0);
  EXPECT_EQ(question.scenario.model.layers, 32);
  EXPECT_EQ(question.scenario.software.name, "megatron-core");
}

TEST(Set, OfOneCommandAreOneLayerInWhateverOrder) {
  for (const Strings& settings :
       {Strings{"model.layers=48", "model=llama2-7b"}, {"model=llama2-7b", "model.layers=48"}}) {
    const Question question = ask(kOneScenario, settings).at(0);
    EXPECT_EQ(question.scenario.model.layers, 48);
    EXPECT_EQ(question.scenario.model.hidden, 4096);
  }
}

TEST(Set, ContradictionsAreErrors) {
  const auto of = [](const Strings& settings) {
    std::string fatal, error;
    fatal = complaint([&] { error = ask(kOneScenario, settings).at(0).error; });
    return fatal + error;
  };
  const std::string both =
      "--set cluster.gpus=32: cluster.gpus: found '32' beside nodes '8' of 8 GPUs, expected one of "
      "the two keys, or for 4 GPUs of each node allocation 'node0:0-3,node1:0-3,node2:0-3,node3:0-3,...'";
  EXPECT_EQ(of({"cluster.gpus=32", "cluster.nodes=8"}), both);
  EXPECT_EQ(of({"cluster.nodes=8", "cluster.gpus=32"}), both);
  EXPECT_EQ(of({"cluster.nodes=8", "cluster.gpus=64"}), "");
  EXPECT_EQ(of({"cluster.gpus=4", "cluster.allocation=0-3"}),
            "--set cluster.gpus=4: cluster.gpus: found '4' beside an allocation, expected one of the two keys");
  EXPECT_EQ(of({"recompute=selective", "recompute.modules=[core_attn]"}), "");
  EXPECT_EQ(
      of({"recompute=full", "recompute.modules=[mlp]"}),
      "--set recompute.modules=[mlp]: recompute.modules: found '[mlp]' beside recompute 'full', expected recompute "
      "selective or one of the two");
  EXPECT_EQ(
      of({"recompute.every=2", "recompute.modules=[mlp]"}),
      "--set recompute.modules=[mlp]: recompute.modules: found '[mlp]' beside recompute.every '2', expected one of "
      "the two");
  EXPECT_EQ(of({"model=llama2-7b", "model.base=llama3-8b"}),
            "--set model.base=llama3-8b: model.base: found 'llama3-8b' beside model 'llama2-7b', expected one of the "
            "two");
  EXPECT_EQ(of({"pipeline.schedule=1f1b", "pipeline.orders=[F0 B0]"}),
            "--set pipeline.orders=[F0 B0]: pipeline.orders: found '[F0 B0]' beside pipeline.schedule '1f1b', expected "
            "pipeline.schedule custom or one of the two");
  EXPECT_EQ(
      of({"recompute.modules=[]"}),
      "--set recompute.modules=[]: recompute.modules: found an empty list, expected one of core_attn, mla_up_proj, "
      "mlp, moe_act, layernorm, moe, shared_experts");
  EXPECT_EQ(
      of({"training.lora.dropout=0.1"}),
      "--set training.lora.dropout=0.1: training.lora.rank: missing, with training.lora.dropout; expected a whole "
      "number of at least 0");
  EXPECT_EQ(of({"training.lora.rank=8", "training.lora.target_modules=[o_proj, linear_proj]"}),
            "--set training.lora.target_modules=[o_proj, linear_proj]: training.lora.target_modules[1]: found "
            "'linear_proj', whose layer is named already");
}

TEST(Set, OverAFileReplacesWhatItLeavesNoRoomFor) {
  const std::string file = write_scenario("rivals.yaml",
                                          "cluster: {node: dgx-a100-80gb, gpus: 8}\n"
                                          "model: gpt3-175b\n"
                                          "training: {global_batch: 64, micro_batch: 1, sequence: 1024}\n"
                                          "parallelism: {tensor: 8}\n"
                                          "recompute: selective\n");
  const Question nodes = ask(file, {"cluster.nodes=16"}).at(0);
  EXPECT_EQ(error_of(nodes), "");
  EXPECT_EQ(nodes.scenario.cluster.gpus, 128u);
  EXPECT_EQ(error_of(ask(file, {"cluster.allocation=0-7"}).at(0)), "");
  const Question modules = ask(file, {"recompute.modules=[mlp]"}).at(0);
  EXPECT_EQ(error_of(modules), "");
  EXPECT_EQ(modules.scenario.recompute, schedules::Recompute::selective);
  EXPECT_TRUE(modules.scenario.recomputed_modules->feed_forward);
  const Question full = ask(file, {"recompute.every=2"}).at(0);
  EXPECT_EQ(full.scenario.recompute, schedules::Recompute::full);
  EXPECT_FALSE(full.scenario.recomputed_modules);
}

TEST(Set, TakesAwayWhatABaseBrings) {
  const std::string file = write_scenario("from_selene.yaml",
                                          "cluster: selene\n"
                                          "model: gpt3-175b\n"
                                          "training: {global_batch: 64, micro_batch: 1, sequence: 1024}\n"
                                          "parallelism: {tensor: 8}\n");
  EXPECT_GT(ask(file).at(0).scenario.cluster.gpus, 8u);
  EXPECT_EQ(ask(file, {"cluster.nodes=", "cluster.gpus="}).at(0).scenario.cluster.gpus, 8u);
}

TEST(Set, OfAGroupOrABlockNamesTheKeysBelow) {
  const std::string group = complaint([] { ask(kOneScenario, {"parallelism=4"}); });
  EXPECT_TRUE(
      group.starts_with("--set parallelism=4: found 'parallelism', which groups keys, expected one of "
                        "parallelism.tensor, parallelism.tensor_method"))
      << group;
  EXPECT_EQ(
      complaint([] { ask(kOneScenario, {"model={layers: 4}"}); }),
      "--set model={layers: 4}: model: found a mapping in one line, expected a file of configs/models/ by its name, "
      "or its keys one by one, such as model.family");
  EXPECT_EQ(complaint([] { ask(kOneScenario, {"zzzz=4"}); }),
            "--set zzzz=4: found the unknown key 'zzzz', expected the path of a key such as 'parallelism.tensor'; "
            "stepcast keys lists them");
}

TEST(Set, OfASlowGpuNeedsItsSpeed) {
  EXPECT_EQ(ask(kOneScenario, {"imperfections.slow_gpu=3"}).at(0).error,
            "--set imperfections.slow_gpu=3: imperfections.gpu_speed: missing, with imperfections.slow_gpu; expected a "
            "number above 0, at most 1, such as 0.8 of the others' speed");
  EXPECT_EQ(ask(kOneScenario, {"imperfections.slow_gpu=3", "imperfections.gpu_speed=1"}).at(0).error, "");
  EXPECT_NE(ask(kOneScenario, {"imperfections.slow_node=3"}).at(0).error.find("imperfections.network_speed: missing"),
            std::string::npos);
}

TEST(Set, OfASeedNeedsTheJitterThatItIsOf) {
  EXPECT_EQ(ask(kOneScenario, {"imperfections.seed=3"}).at(0).error,
            "--set imperfections.seed=3: imperfections.seed: found '3' without imperfections.jitter, whose draws it "
            "numbers; expected both or neither");
  EXPECT_EQ(ask(kOneScenario, {"imperfections.seed=3", "imperfections.jitter=0"}).at(0).error, "");
}

TEST(Set, NoPhaseOfAStepIsLongerThanTheStep) {
  const auto error = [](const std::string& phase) {
    Library library = configs();
    return read_questions(std::vector<std::string>{STEPCAST_SOURCE_DIR "/scenarios/quickstart.yaml"},
                          std::vector<std::string>{"measured.step_time=2 s", "measured.phases.layer_forward=" + phase},
                          library)
        .front()
        .error;
  };
  EXPECT_EQ(error("3 s"),
            "--set measured.phases.layer_forward=3 s: measured.phases.layer_forward: found 3.00 s of a step of 2.00 s, "
            "expected at most all of it");
  EXPECT_EQ(error("2 s"), "");
}

TEST(Set, NothingTakesAKeyAway) {
  const Question question = ask(kOneScenario, {"recompute=", "pipeline.virtual_stages=", "parallelism.data=",
                                               "pipeline.schedule=", "parallelism.pipeline=4"})
                                .at(0);
  EXPECT_EQ(question.error, "");
  EXPECT_EQ(question.scenario.recompute, schedules::Recompute::none);
  EXPECT_EQ(question.scenario.pipeline.schedule, "1f1b");
  EXPECT_EQ(question.scenario.parallelism.data, 2u);
}

TEST(Set, WritesAListBetweenBrackets) {
  const Question question =
      ask(kOneScenario, {"pipeline.schedule=", "pipeline.virtual_stages=", "parallelism.pipeline=4",
                         "parallelism.data=", "parallelism.layers_per_stage=[20, 26,26 , 24]"})
          .at(0);
  EXPECT_EQ(error_of(question), "");
  EXPECT_EQ(question.scenario.parallelism.layers_per_stage, (std::vector<std::uint32_t>{20, 26, 26, 24}));
  EXPECT_EQ(ask(kOneScenario, {"note=[no list]"}).at(0).scenario.note, "[no list]");
  EXPECT_NE(error_of(ask(kOneScenario, {"parallelism.layers_per_stage=4 4"}).at(0)).find("expected a list"),
            std::string::npos);
  const std::string modules =
      "expected a list of core_attn, mla_up_proj, mlp, moe_act, layernorm, moe, shared_experts, such as "
      "[core_attn, mlp]";
  EXPECT_EQ(error_of(ask(kOneScenario, {"recompute.modules=mlp"}).at(0)),
            "--set recompute.modules=mlp: recompute.modules: found 'mlp', " + modules + "; did you mean '[mlp]'?");
  EXPECT_EQ(error_of(ask(kOneScenario, {"recompute.modules=mlp, moe_act"}).at(0)),
            "--set recompute.modules=mlp, moe_act: recompute.modules: found 'mlp, moe_act', " + modules +
                "; did you mean '[mlp, moe_act]'?");
  EXPECT_EQ(error_of(ask(kOneScenario, {"recompute.modules=all"}).at(0)),
            "--set recompute.modules=all: recompute.modules: found 'all', " + modules);
  EXPECT_NE(error_of(ask(kOneScenario, {"parallelism.layers_per_stage=[4,, 4]"}).at(0)).find("found ''"),
            std::string::npos);
}

TEST(Set, GpusTakeNodesAway) {
  const Question question =
      ask(kOneScenario, {"cluster.gpus=16", "parallelism.pipeline=2", "parallelism.data=1"}).at(0);
  EXPECT_EQ(question.error, "");
  EXPECT_EQ(question.scenario.cluster.gpus, 16u);
}

TEST(Set, ABaseGoesUnderneath) {
  const std::string base = write_scenario("set_base.yaml", "note: from the base\nname: base\n");
  const Question question = ask(kOneScenario, {"base=" + base}).at(0);
  EXPECT_EQ(question.error, "");
  EXPECT_EQ(question.scenario.note, "from the base");
  EXPECT_EQ(question.name, "GPT-3 175B on 8 DGX A100");
}

TEST(Set, SettingsAreFew) {
  const Strings many(1001, "training.micro_batch=2");
  EXPECT_EQ(complaint([&] { ask(kOneScenario, many); }), "--set: found 1001 of them, expected at most 1000");
}

TEST(Set, ErrorsNameTheFlag) {
  EXPECT_EQ(complaint([] { ask(kOneScenario, {"parallelism.tensr=4"}); }),
            "--set parallelism.tensr=4: found the unknown key 'parallelism.tensr', expected the path of a key such as "
            "'parallelism.tensor'; did you mean 'parallelism.tensor'?");
  EXPECT_EQ(complaint([] { ask(kOneScenario, {"parallelism.tensor"}); }),
            "--set parallelism.tensor: expected key=value, such as parallelism.tensor=4, or key= to take it away");
  EXPECT_EQ(complaint([] { ask(kOneScenario, {"base="}); }),
            "--set base=: expected a file (what a base brings is taken away key by key: --set key=)");
  EXPECT_EQ(ask(kOneScenario, {"parallelism.tensor=four"}).at(0).error,
            "--set parallelism.tensor=four: parallelism.tensor: found 'four', expected a whole number of at least 1");
  EXPECT_EQ(ask(kOneScenario, {"training.global_batch=63", "training.micro_batch=2"}).at(0).error.substr(0, 46),
            "--set training.global_batch=63: training.globa");
}

TEST(Problems, ArePlacedAtTheirKeyOrItsParent) {
  const std::string path = write_scenario("problem.yaml",
                                          "cluster: {node: dgx-a100-80gb}\n"
                                          "model: gpt3-175b\n"
                                          "training: {global_batch: 7, micro_batch: 2, sequence: 1024}\n"
                                          "parallelism: {tensor: 8}\n"
                                          "data_parallel: {zero: 0}\n");
  EXPECT_EQ(error_of(ask(path).at(0)).substr(0, 42), "problem.yaml:3:26: training.global_batch: ");
  const std::string heads = write_scenario("problem_heads.yaml",
                                           "cluster: {node: dgx-a100-80gb}\n"
                                           "training: {global_batch: 8, micro_batch: 1, sequence: 1024}\n"
                                           "model: {base: gpt3-175b, hidden: 1000, ffn: 4096}\n"
                                           "parallelism: {tensor: 8}\n");
  EXPECT_EQ(error_of(ask(heads).at(0)).substr(0, 38), "problem_heads.yaml:3:1: model.heads: h");
}

TEST(Tables, ARowIsAScenarioAndAnEmptyCellAKeyNotGiven) {
  const std::string path =
      write_scenario("runs.csv",
                     "name,model.layers,model,cluster.node,cluster.nodes,cluster.gpus,training.global_batch,"
                     "training.micro_batch,training.sequence,parallelism.tensor,recompute\n"
                     "short,8,gpt3-175b,dgx-a100-80gb,2,,16,1,2048,8,full\n"
                     ",,gpt3-175b,dgx-a100-80gb,,8,16,1,2048,8,\n");
  const std::vector<Question> rows = ask(path);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(error_of(rows[0]), "");
  EXPECT_EQ(rows[0].name, "short");
  EXPECT_EQ(rows[0].table, "runs");
  EXPECT_TRUE(rows[0].among_others);
  EXPECT_EQ(rows[0].scenario.model.layers, 8);
  EXPECT_EQ(rows[0].scenario.model.hidden, 12288);
  EXPECT_EQ(rows[0].scenario.cluster.gpus, 16u);
  EXPECT_EQ(rows[0].scenario.recompute, schedules::Recompute::full);
  EXPECT_EQ(error_of(rows[1]), "");
  EXPECT_EQ(rows[1].name, "runs:3");
  EXPECT_EQ(rows[1].scenario.model.layers, 96);
  EXPECT_EQ(rows[1].scenario.cluster.gpus, 8u);
  EXPECT_EQ(rows[1].scenario.recompute, schedules::Recompute::none);
}

TEST(Tables, ContradictoryRecomputeKeysAreAnError) {
  const std::string head =
      "recompute,recompute.every,recompute.full_layers,model,cluster.node,training.global_batch,training.micro_batch,"
      "training.sequence,parallelism.tensor\n";
  const std::string rest = ",gpt3-175b,dgx-a100-80gb,16,1,2048,8\n";
  const std::string path = write_scenario("recompute.csv", head + "none,2," + rest + "selective,,3" + rest + "full,2," +
                                                               rest + ",2,3" + rest + "none,," + rest);
  const std::vector<Question> rows = ask(path);
  EXPECT_EQ(error_of(rows.at(0)),
            "recompute.csv:2:6: recompute.every: found '2' beside recompute 'none', expected recompute full or one of "
            "the two");
  EXPECT_EQ(
      error_of(rows.at(1)),
      "recompute.csv:3:12: recompute.full_layers: found '3' beside recompute 'selective', expected recompute full "
      "or one of the two");
  EXPECT_EQ(error_of(rows.at(2)), "");
  EXPECT_EQ(rows.at(2).scenario.recompute_group, 2u);
  EXPECT_EQ(error_of(rows.at(3)), "");  // an empty cell says nothing
  EXPECT_EQ(rows.at(3).scenario.recompute, schedules::Recompute::full);
  EXPECT_EQ(rows.at(3).scenario.recompute_layers, 3u);
  EXPECT_EQ(error_of(rows.at(4)), "");
  EXPECT_EQ(rows.at(4).scenario.recompute, schedules::Recompute::none);
  // What --set lays over a row changes it, both ways.
  for (const Question& row : ask(path, {"recompute=selective"}))
    if (row.error.empty()) {
      EXPECT_EQ(row.scenario.recompute, schedules::Recompute::selective);
    }
  EXPECT_EQ(ask(path, {"recompute.every=4"}).at(4).scenario.recompute_group, 4u);
  EXPECT_EQ(
      complaint([&] {
        ask(path, {"recompute.every=4", "recompute=none"});
      }),
      "--set recompute.every=4: recompute.every: found '4' beside recompute 'none', expected recompute full or one "
      "of the two");
}

TEST(Tables, ContradictoryCellsOfOneRowAreAnError) {
  const std::string head =
      "model,cluster.node,cluster.gpus,cluster.nodes,training.global_batch,training.micro_batch,training.sequence,"
      "parallelism.tensor,recompute,recompute.modules\n";
  const std::string path =
      write_scenario("rivals.csv", head + "gpt3-175b,dgx-a100-80gb,32,8,64,1,1024,8,,\n" +
                                       "gpt3-175b,dgx-a100-80gb,64,8,64,1,1024,8,selective,[mlp]\n" +
                                       "gpt3-175b,dgx-a100-80gb,64,,64,1,1024,8,full,[mlp]\n");
  const std::vector<Question> rows = ask(path);
  EXPECT_EQ(error_of(rows.at(0)),
            "rivals.csv:2:25: cluster.gpus: found '32' beside nodes '8' of 8 GPUs, expected one of the two keys, or "
            "for 4 GPUs of each node allocation 'node0:0-3,node1:0-3,node2:0-3,node3:0-3,...'");
  EXPECT_EQ(error_of(rows.at(1)), "");
  EXPECT_EQ(
      error_of(rows.at(2)),
      "rivals.csv:4:46: recompute.modules: found '[mlp]' beside recompute 'full', expected recompute selective or "
      "one of the two");
}

TEST(Tables, ACellOfAListIsWrittenAsInYaml) {
  const std::vector<Question> rows = ask(write_scenario(
      "lists.csv",
      "model,cluster.node,training.global_batch,training.micro_batch,training.sequence,parallelism.pipeline,"
      "parallelism.layers_per_stage\n"
      "gpt3-175b,dgx-a100-80gb,16,1,2048,8,\"[11, 12, 12, 12, 12, 12, 12, 13]\"\n"));
  EXPECT_EQ(error_of(rows.at(0)), "");
  EXPECT_EQ(rows.at(0).scenario.parallelism.layers_per_stage,
            (std::vector<std::uint32_t>{11, 12, 12, 12, 12, 12, 12, 13}));
}

TEST(Tables, ABadRowStandsBesideTheOthers) {
  const std::string head =
      "cluster,cluster.nodes,model,training.global_batch,training.micro_batch,training.sequence,parallelism.tensor\n";
  const std::vector<Question> rows =
      ask(write_scenario("beside.csv", head + "selene,1,gpt3-175b,8,1,2048,8\n" + "selene,1,gpt3-175b,8,x,2048,8\n" +
                                           "selene,1,gpt3-175b,8,1,2048,16\n"));
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(error_of(rows[0]), "");
  EXPECT_EQ(error_of(rows[1]),
            "beside.csv:3:22: training.micro_batch: found 'x', expected a whole number of at least 1");
  EXPECT_EQ(error_of(rows[2]),
            "beside.csv:4:29: parallelism.tensor: tensor 16 x pipeline 1 is 16 GPUs, expected a divisor of the "
            "cluster's 8");
}

TEST(Tables, SettingsGoOverEveryRow) {
  const std::vector<Question> rows =
      ask(STEPCAST_SOURCE_DIR "/scenarios/published/megatron_sc21.csv", {"recompute=none", "software=megatron-core"});
  for (const Question& row : rows) {
    EXPECT_EQ(row.scenario.recompute, schedules::Recompute::none) << row.error;
    EXPECT_EQ(row.scenario.software.name, "megatron-core");
  }
}

TEST(Tables, HeadersThatAreWrongStopEverything) {
  const auto fatal = [](const std::string& header) {
    return without_folder(complaint([&] { ask(write_scenario("head.csv", header)); }));
  };
  EXPECT_EQ(fatal("name,training.micro\nx,1\n"),
            "head.csv:1:6: found the unknown key 'training.micro', expected the path of a key such as "
            "'parallelism.tensor'; did you mean 'training.micro_batch'?");
  EXPECT_EQ(fatal("name,model.nam\nx,1\n").find("did you mean 'model.name'?") == std::string::npos, false);
  EXPECT_EQ(fatal("name,,note\na,b,c\n"), "head.csv:1:6: found an empty column name, expected the path of a key");
  EXPECT_EQ(fatal("name,name\na,b\n"), "head.csv:1:6: found the column 'name' a second time, expected it once");
  EXPECT_EQ(fatal("name;cluster.node\na;b\n"), "head.csv:1:1: found ';' between key paths, expected commas");
  EXPECT_EQ(fatal("name\tcluster.node\na\tb\n"), "head.csv:1:1: found a tab between key paths, expected commas");
  EXPECT_EQ(fatal("name\n"), "head.csv: found a header and no row, expected at least one row");
}

TEST(Folders, TellOfLinksThatLeadNowhere) {
  const std::filesystem::path folder = write_scenario("links", "");
  std::filesystem::remove(folder);
  std::filesystem::create_directories(folder);
  std::filesystem::create_symlink("loop.yaml", folder / "loop.yaml");
  std::filesystem::create_symlink("gone.csv", folder / "table.csv");
  const std::vector<Question> all = ask(folder.string());
  std::filesystem::remove_all(folder);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(error_of(all[0]), "links/loop.yaml: cannot be read: Too many levels of symbolic links");
  EXPECT_EQ(error_of(all[1]), "links/table.csv: no such file");
}

TEST(Tables, RowsAreFewAndWhatIsQuotedIsShort) {
  LEFT_TO_RELEASE();
  std::string rows = "training.micro_batch\n";
  for (int i = 0; i < 100'001; ++i) rows += "1\n";
  EXPECT_EQ(without_folder(complaint([&] { ask(write_scenario("many.csv", rows)); })),
            "many.csv:100002:1: found more than 100000 rows, expected fewer in one table");
  EXPECT_LT(complaint([] { ask(write_scenario("wide.csv", std::string(900'000, 'x') + "\n1\n")); }).size(), 400u);
}

TEST(Paths, ANamedFileOfJsonIsAScenario) {
  const std::string model = "{\"cluster\": {\"node\": \"dgx-a100-80gb\"}, \"model\": \"bert-large\",\n \"training\": ";
  const std::vector<Question> one =
      ask(write_scenario("bert.json", model + "{\"global_batch\": 64, \"micro_batch\": 8, \"sequence\": 512}}"));
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one.front().error, "");
  EXPECT_EQ(one.front().scenario.training.global_batch, 64);
  const std::string bad = ask(write_scenario("bad.json", model + "{\"micro_batch_size\": 8}}")).at(0).error;
  EXPECT_NE(
      bad.find("bad.json:2:15: training: found the unknown key 'micro_batch_size', expected 'training.micro_batch' "
               "for it"),
      std::string::npos)
      << bad;
}

TEST(Paths, FoldersAreReadSortedAndFilesMustBeOfAKnownKind) {
  const std::vector<Question> all =
      ask(STEPCAST_SOURCE_DIR "/scenarios" + std::string(test::kSanitized ? "/textbook" : ""));
  EXPECT_GT(all.size(), test::kSanitized ? 5u : 20u);
  EXPECT_NE(complaint([] { ask(STEPCAST_SOURCE_DIR "/README.md"); }).find("expected a scenario (.yaml, .yml, .json)"),
            std::string::npos);
  EXPECT_NE(complaint([] { ask(STEPCAST_SOURCE_DIR "/scenarios/quickstrat.yaml"); }).find("quickstart.yaml'?"),
            std::string::npos);
}

template <class E>
Question with_error(const E& thrown, bool among_others) {
  Question question;
  question.origin = "runs.csv:2:1";
  question.among_others = among_others;
  try {
    throw thrown;
  } catch (...) {
    keep_error(question);
  }
  return question;
}

TEST(Questions, AnyFailureOfARowStaysWithIt) {
  EXPECT_EQ(with_error(std::bad_alloc(), true).error, "runs.csv:2:1: this computer has too little memory for it");
  EXPECT_EQ(with_error(std::runtime_error("a\x1b"
                                          "b"),
                       true)
                .error,
            "runs.csv:2:1: a\\x1bb");
  EXPECT_FALSE(with_error(std::runtime_error("a"), true).internal_error);
  const Question ours = with_error(std::logic_error("work of negative duration"), true);
  EXPECT_EQ(ours.error, "runs.csv:2:1: internal error: work of negative duration");
  EXPECT_TRUE(ours.internal_error);
}

TEST(Questions, OfAFileThatTheCommandNamesItEndsTheCommand) {
  EXPECT_THROW(with_error(std::logic_error("ours"), false), std::logic_error);
  EXPECT_THROW(with_error(std::bad_alloc(), false), std::bad_alloc);
}

}  // namespace
}  // namespace stepcast::language
