// What cannot be read, and what cannot be told, is one clear error that names it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "language/frameworks/emit.h"
#include "language/question.h"
#include "language/settings.h"
#include "tests/language/frameworks/configurations.h"

namespace stepcast::language {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string kFlags =
    "torchrun --nnodes 1 --nproc-per-node 8 pretrain_gpt.py --num-layers 8 --hidden-size 1024 --num-attention-heads 16 "
    "--seq-length 1024 --max-position-embeddings 1024 --micro-batch-size 1 --global-batch-size 32 --bf16 "
    "--vocab-size 51200 ";

std::string of_flags(const std::string& more) {
  return complaint([&] { imported("megatron", kFlags + more); });
}

std::string of_file(const std::string& framework, const std::string& text) {
  return complaint([&] {
    imported(framework, text, {"cluster.node=dgx-h100", "cluster.gpus=8", "training.sequence=1024"});
  });
}

TEST(BadConfigurations, OfMegatronNameTheFlag) {
  EXPECT_EQ(of_flags(""), "");
  EXPECT_THAT(of_flags("--tensor-model-paralel-size 2"),
              AllOf(StartsWith("given:1:"), HasSubstr(": --tensor-model-paralel-size: found a name that is not known"),
                    HasSubstr("did you mean '--tensor-model-parallel-size'")));
  EXPECT_THAT(of_flags("--enable-cuda-graph"),
              HasSubstr("--enable-cuda-graph: changes the answer; give --set software.cuda_graphs"));
  EXPECT_THAT(of_flags("--moe-router-group-topk 4"), HasSubstr("training.experts.node_limit"));
  EXPECT_THAT(of_flags("--moe-router-group-topk 4 --moe-router-num-groups 8"), HasSubstr("experts.node_limit"));
  EXPECT_EQ(of_flags("--moe-router-group-topk 1 --moe-router-num-groups 1"), "");  // of one group, one
  EXPECT_THAT(of_flags("--swiglu yes"), HasSubstr("--swiglu: found 'yes', expected no value"));
  EXPECT_THAT(of_flags("--recompute-granularity"), HasSubstr("--recompute-granularity: found no value"));
  EXPECT_THAT(of_flags("--recompute-granularity full"), HasSubstr("--recompute-method: missing"));
  EXPECT_THAT(of_flags("--position-embedding-type relative"),
              HasSubstr("--position-embedding-type: found 'relative', expected one of learned_absolute, rope"));
  EXPECT_THAT(of_flags("--tensor-model-parallel-size two"), HasSubstr("found 'two', expected a whole number"));
  EXPECT_THAT(of_flags("--num-layers 9"), HasSubstr("found '9', but --num-layers at given:1:"));
  EXPECT_THAT(of_flags("--num-layers-per-virtual-pipeline-stage 3 --pipeline-model-parallel-size 2"),
              HasSubstr("--num-layers-per-virtual-pipeline-stage: found '3', expected a divisor"));
  std::string many_layers = kFlags + "--normalization RMSNorm --num-experts 8 --moe-layer-freq 2";
  const std::string few = "--num-layers 8";
  many_layers.replace(many_layers.find(few), few.size(), "--num-layers 999999937");
  EXPECT_THAT(complaint([&] { imported("megatron", many_layers); }),
              HasSubstr("--num-layers: found '999999937', expected at most 100000 layers beside --moe-layer-freq"));
  EXPECT_THAT(of_flags("--num-experts 8"), HasSubstr("--normalization: found LayerNorm beside --num-experts"));
  const std::string experts = "--normalization RMSNorm --num-experts 8 --expert-model-parallel-size 2 ";
  EXPECT_THAT(of_flags(experts), HasSubstr("--moe-token-dispatcher-type: found 'allgather'"));
  EXPECT_THAT(of_flags("--normalization RMSNorm --num-experts 8 --tensor-model-parallel-size 2"),
              HasSubstr("--moe-token-dispatcher-type: found 'allgather'"));
  EXPECT_THAT(
      of_flags(experts + "--moe-token-dispatcher-type alltoall --moe-layer-freq [1]*7"),
      HasSubstr("--moe-layer-freq: found '[1]*7', expected a whole number, or a list of 0 and 1 with one for each "
                "of the 8 layers"));
  EXPECT_THAT(of_flags("--pipeline-model-parallel-size 2 --pipeline-model-parallel-layout t*4|t*4"),
              HasSubstr("--pipeline-model-parallel-layout: found 't*4"));
  EXPECT_THAT(
      of_flags("--pipeline-model-parallel-size 2 --pipeline-model-parallel-layout Et*4|mt*4L --mtp-num-layers 1"),
      HasSubstr("and as many m behind all t as there are"));
  EXPECT_THAT(of_flags("--pipeline-model-parallel-size 2 --pipeline-model-parallel-layout Et*4|t*4mL"),
              HasSubstr("and as many m behind all t as there are"));
  EXPECT_THAT(complaint([] { imported("megatron", "echo nothing"); }), HasSubstr("given: found no flags"));
  EXPECT_THAT(complaint([] { imported("megatron", "A=(1 2"); }), HasSubstr("given:1:3: found an array that does not"));
  EXPECT_THAT(complaint([] { imported("megatron", "a --b \"c"); }), HasSubstr("found a quote that does not end"));
}

TEST(Configurations, PassOverWhatIsIgnoredByWish) {
  Library library = configs();
  const std::vector<std::string> settings{"cluster.node=dgx-h100"};
  const auto text_with = [&](const std::string& more, std::vector<std::string> ignored) {
    return scenario_of_configuration(framework_named("megatron", ""), kFlags + more, "train.sh", settings, library, ".",
                                     {.ignored = std::move(ignored)})
        .text;
  };
  EXPECT_THAT(of_flags("--multiple-of 4096"), HasSubstr("expected one that is, or --ignore --multiple-of where it"));
  const std::string text =
      text_with("--multiple-of 4096 --patch-tokenizer-type Qwen2 --lr 1", {"--multiple-of", "patch-tokenizer-type"});
  EXPECT_THAT(text, HasSubstr("# Left out by wish (--ignore), whatever it changes:\n"
                              "#   --multiple-of, --patch-tokenizer-type\n"));
  EXPECT_THAT(text, HasSubstr("# Changes nothing of the forecast, and was left out:\n#   --lr\n"));
  // One that counts, or that is refused, is passed over too.
  EXPECT_THAT(text_with("--deterministic-mode --tensor-model-parallel-size 2 --swiglu",
                        {"--deterministic-mode", "tensor-model-parallel-size"}),
              AllOf(HasSubstr("tensor: 1  # assumed"), HasSubstr("activation: swiglu")));
  EXPECT_EQ(complaint([&] { text_with("--multiple-of 4096", {"multiple-off"}); }),
            "--ignore: found 'multiple-off', expected a name that is there; did you mean '--multiple-of'?");
}

TEST(Configurations, MaySayWhatASettingSaysInItsPlace) {
  const std::vector<std::string> settings{"cluster.node=dgx-h100", "software.main_gradient_precision=bf16"};
  const std::string flag = "--main-grads-dtype bf16";
  EXPECT_THAT(of_flags(flag), HasSubstr("--main-grads-dtype: found 'bf16': changes the answer; give --set "
                                        "software.main_gradient_precision"));
  EXPECT_EQ(imported("megatron", kFlags + flag, settings).software.main_gradient_precision, schedules::Precision::bf16);
  Library library = configs();
  EXPECT_THAT(scenario_of_configuration(framework_named("megatron", ""), kFlags + flag, "t.sh", settings, library).text,
              AllOf(HasSubstr("# --set says something in the place of:\n#   --main-grads-dtype\n"),
                    HasSubstr("main_gradient_precision: bf16  # --set")));
  // Another key of the same block is no such setting.
  EXPECT_THAT(complaint([&] {
                imported("hf-trainer", "torchrun --nproc_per_node 8 train.py --model_name_or_path gpt2 --torch_compile",
                         settings);
              }),
              HasSubstr("give --set software=pytorch-fsdp2-compiled"));
}

// What an error asks for is what makes it go.
TEST(Configurations, NameTheKeyThatARefusedNameAsksFor) {
  for (const Framework* framework : frameworks())
    for (const RefusedName& each : framework->refused()) {
      const std::size_t at = each.why.find("--set ");
      EXPECT_EQ(at == each.why.npos, each.instead.empty()) << each.name;
      if (each.instead.empty()) continue;
      EXPECT_TRUE(each.why.substr(at + 6).starts_with(each.instead)) << each.name;
      const std::vector<std::string> setting{std::string(each.instead) + "=1"};
      EXPECT_EQ(complaint([&] { settings_layer(setting, {}); }), "") << each.name;
    }
}

// srun, deepspeed and their like have flags of their own in front of the program; accelerate's say how to train.
TEST(Configurations, PassOverWhatIsOfTheLauncher) {
  const std::string flags = kFlags.substr(kFlags.find("pretrain_gpt.py"));
  const auto gpus = [&](const std::string& launcher) { return imported("megatron", launcher + flags).cluster.gpus; };
  EXPECT_EQ(gpus("deepspeed --force_multi --hostfile hosts --num_nodes=2 --num_gpus 8 ../"), 16U);
  EXPECT_EQ(gpus("srun --container-image x#y --mpi=pmix torchrun --nnodes 4 --nproc_per_node 8 --tee 3 "), 32U);
  EXPECT_THAT(complaint([&] { gpus("srun --mpi=pmix accelerate launch --fsdp_new 1 "); }),
              HasSubstr("--fsdp_new: found a name that is not known"));
  for (const char* const prefix :
       {"numactl --membind=0-3 --cpunodebind 0 ", "taskset --cpu-list 0-3 ", "nice --adjustment=3 ", "nice -n 3 ",
        "env --unset=X NCCL_DEBUG=INFO ", "time ", "time --verbose ", "stdbuf --output=L ", "exec ",
        "nsys profile --trace=cuda -o x --force-overwrite true ", "/usr/bin/ncu --target-processes all ",
        "srun --mpi=pmix numactl --membind=0 ", "apptainer exec --nv x.sif "}) {
    EXPECT_EQ(gpus(std::string(prefix) + "torchrun --nnodes 2 --nproc_per_node 4 "), 8U) << prefix;
    const auto of_module = [&](const std::string& launcher) {
      return imported("megatron", prefix + launcher + " -m megatron.pretrain " + flags.substr(flags.find(' ')),
                      {"cluster.node=dgx-h100", "cluster.gpus=8"})
          .model.layers;
    };
    EXPECT_EQ(of_module("python -u"), 8) << prefix;
    EXPECT_EQ(of_module("python -m torch.distributed.run --nnodes 2 --nproc_per_node 4"), 8) << prefix;
  }
  EXPECT_EQ(imported("megatron", "numactl --membind=0-3 ./" + flags, {"cluster.node=dgx-h100", "cluster.gpus=8"})
                .model.layers,
            8);
  EXPECT_THAT(complaint([&] { gpus("./start --mpi=pmix "); }), HasSubstr("--mpi: found a name that is not known"));
}

TEST(BadConfigurations, OfMegatronDeepSpeedSayWhatToGiveInstead) {
  EXPECT_EQ(of_flags("--ds-sequence-parallel-size 1 --moe-expert-parallel-size 1"), "");
  EXPECT_THAT(of_flags("--deepspeed --deepspeed_config ds.json"), HasSubstr("give --set data_parallel.zero=N"));
  EXPECT_THAT(of_flags("--ds-sequence-parallel-size 4"), HasSubstr("parallelism.context_method=ulysses"));
  EXPECT_EQ(imported("megatron", kFlags + "--zero-stage 2 --no-pipeline-parallel").data_parallel.zero, 2);
  EXPECT_THAT(of_flags("--zero-stage 1 --use-distributed-optimizer"), HasSubstr("--zero-stage: found beside"));
  const schedules::Model llama =
      imported("megatron", kFlags + "--normalization rmsnorm --swiglu --num-key-value-heads 4").model;
  EXPECT_EQ(llama.family, schedules::Family::llama);
  EXPECT_EQ(llama.kv_heads, 4);
  const schedules::Model bloom =
      imported("megatron", kFlags + "--position-embedding-type alibi --embed-layernorm").model;
  EXPECT_EQ(schedules::layer_style(bloom).positions, schedules::Positions::alibi);
  EXPECT_TRUE(bloom.variations.embedding_norm);
  const auto recompute = [](const std::string& more) { return imported("megatron", kFlags + more).recompute; };
  EXPECT_EQ(recompute("--checkpoint-activations"), recompute("--activations-checkpoint-method uniform"));
  EXPECT_NE(recompute("--checkpoint-activations"), recompute(""));
  const auto parts = [](const std::string& more) {
    return imported("megatron", kFlags + more).software.partition_activations;
  };
  EXPECT_TRUE(parts("--distribute-saved-activations"));
  EXPECT_FALSE(parts(""));
}

TEST(BadConfigurations, WithoutTheSizeOfTheVocabularySayHowToGiveIt) {
  const std::string flags = kFlags.substr(0, kFlags.find("--vocab-size"));
  EXPECT_EQ(complaint([&] { imported("megatron", flags); }),
            "given: model.vocab: missing, because the tokenizer alone knows it, expected --set model.vocab=N");
  EXPECT_EQ(imported("megatron", flags, {"cluster.node=dgx-h100", "model.vocab=51200"}).model.vocab, 51200);
}

TEST(BadConfigurations, OfMegatronThatContradictThemselvesNameBothFlags) {
  EXPECT_THAT(of_flags("--fp16"), AllOf(StartsWith("given:1:"), HasSubstr(": --fp16: found beside --bf16 at given:1:"),
                                        HasSubstr("expected one of the two")));
  EXPECT_THAT(
      of_flags("--pipeline-model-parallel-size 2 --num-virtual-stages-per-pipeline-rank 2 "
               "--num-layers-per-virtual-pipeline-stage 2"),
      HasSubstr("--num-layers-per-virtual-pipeline-stage: found beside --num-virtual-stages-per-pipeline-rank"));
  EXPECT_THAT(of_flags("--swiglu --squared-relu"), HasSubstr("--squared-relu: found 'squared-relu', but --swiglu at"));
}

TEST(BadConfigurations, OfScriptsNameWhatMakesAValueDoubtful) {
  const auto of_script = [](const std::string& script) {
    return complaint([&] { imported("megatron", script + kFlags + "--tensor-model-parallel-size $T --lr $T"); });
  };
  EXPECT_EQ(of_script("T=2\n"), "");
  EXPECT_THAT(of_script("for T in 1 2; do echo $T; done\n"),
              HasSubstr("--tensor-model-parallel-size: found '$T', which the loop at given:1:1 gives several values"));
  EXPECT_THAT(of_script("T=1\nif [ -f x ]; then T=2; fi\n"),
              HasSubstr("--tensor-model-parallel-size: found '$T', which may be what given:2:19 gives it"));
  EXPECT_THAT(
      complaint([] { imported("megatron", "F=()\nfor i in 1 2; do F+=(--swiglu); done\n" + kFlags + "${F[@]}"); }),
      HasSubstr("found '${F[@]}', which the loop at given:2:1 changes; expected its flags"));
  // Other words of the same text are known.
  EXPECT_EQ(complaint([] {
              imported("megatron", "T=x\nif [ -f x ]; then T=y; fi\nO=\"--swiglu --save $T --lr 1\"\n" + kFlags + "$O");
            }),
            "");
  EXPECT_THAT(complaint([] {
                imported("megatron",
                         "F=--bf16\nwhile read x; do\nF=\"$F --swiglu\"\ndone\nrun --nnodes 1 train.py $F --x");
              }),
              HasSubstr("given:5:25: found '$F', which"));
}

TEST(BadConfigurations, OfScriptsSayHowToGiveWhatNothingSets) {
  const auto of_script = [](const std::string& script, const std::string& flags, std::vector<std::string> more = {}) {
    more.push_back("cluster.node=dgx-h100");
    return complaint([&] { imported("megatron", script + kFlags + flags, more); });
  };
  const std::string argument =
      " (argument 11 of the script is not known: give its arguments at the end of the line, behind --)";
  const std::string variable = " (what P holds is not known: give --env P=VALUE, or --env P= where it is empty)";
  EXPECT_THAT(of_script("P=${11}\n", "--pipeline-model-parallel-size $P"),
              HasSubstr("--pipeline-model-parallel-size: found '${11}', expected a whole number" + argument));
  EXPECT_THAT(of_script("", "--pipeline-model-parallel-size $P"),
              HasSubstr("found '$P', expected a whole number" + variable));
  EXPECT_THAT(of_script("", "--mtp-num-layers $P"), HasSubstr("found '$P', expected a value" + variable));
  EXPECT_THAT(of_script("", "--bf16 ${P}"), HasSubstr("found '${P}', expected no value" + variable));
  EXPECT_THAT(of_script("", "--transformer-impl $P"), HasSubstr("expected transformer_engine" + variable));
  EXPECT_THAT(of_script("", "--optimizer $P"), HasSubstr("found '$P', expected one of adam, sgd" + variable));
  EXPECT_THAT(of_script("", "--kv-channels $((P * 2))"), HasSubstr("found '$((P * 2))', expected a value" + variable));
  EXPECT_THAT(of_script("", "--num-virtual-stages-per-pipeline-rank $P --pipeline-model-parallel-size 2"),
              HasSubstr("found '$P', expected a whole number" + variable));
  EXPECT_EQ(of_script("", "--pipeline-model-parallel-size $P", {"parallelism.pipeline=2"}), "");
  EXPECT_EQ(of_script("", "--attention-backend $P", {"training.attention=unfused"}), "");
  EXPECT_EQ(of_script("", "--attention-backend new", {"training.attention=unfused"}), "");
  EXPECT_THAT(of_script("T='--swiglu'\nif [ -n \"$P\" ]; then T=\"$T --wandb-project $P\"; fi\n", "$T"),
              HasSubstr("gives it, or what it was before" + variable + "; expected its flags"));
}

TEST(Configurations, AreReadAsStartedWithArgumentsAndAnEnvironment) {
  Library library = configs();
  const std::vector<std::string> settings{"cluster.node=dgx-h100"};
  const auto text_of_script = [&](const std::string& framework, const std::string& text, const ShellStart& start) {
    return scenario_of_configuration(framework_named(framework, ""), text, "train.sh", settings, library, ".",
                                     {.start = start})
        .text;
  };
  const std::string text =
      text_of_script("megatron", kFlags + "--tensor-model-parallel-size $2 --context-parallel-size ${C:-1} --lr $1",
                     {.arguments = {"it's", "4"}, .environment = {{"C", "2"}}});
  EXPECT_THAT(text, AllOf(HasSubstr("tensor: 4  # --tensor-model-parallel-size, line 1\n"), HasSubstr("context: 2  # "),
                          HasSubstr("# Read as started by: C=2 bash train.sh 'it'\\''s' 4\n")));
  // A flag of fused attention says which kernels that means.
  EXPECT_THAT(text_of_script("megatron", kFlags + "--use-flash-attn", {}),
              HasSubstr("attention: flash  # --use-flash-attn, line 1; on Hopper and later cuDNN's, "));
  EXPECT_THAT(text_of_script("megatron", kFlags + "--attention-backend unfused", {}),
              HasSubstr("attention: unfused  # --attention-backend, line 1\n"));
  for (const char* const framework : {"deepspeed", "torchtitan", "nanotron", "nemo", "megatron-bridge", "hf-trainer"}) {
    const std::string file = "model: 1";
    EXPECT_EQ(complaint([&] {
                text_of_script(framework, file, {.environment = {{"model", "2"}}});
              }),
              "--env: found beside train.sh, which is no shell script; expected it left out");
    EXPECT_EQ(complaint([&] { text_of_script(framework, file, {.arguments = {"2"}}); }),
              "train.sh: found '2' behind --, but the file is no shell script, which has arguments; expected none");
  }
}

// Flags that a variable may hold are not passed over in silence.
TEST(Configurations, SayWhichVariablesNothingSets) {
  Library library = configs();
  const std::vector<std::string> settings{"cluster.node=dgx-h100"};
  const auto text_of_flags = [&](const std::string& more) {
    return scenario_of_configuration(framework_named("megatron", ""), kFlags + more, "t.sh", settings, library).text;
  };
  for (const char* const list : {"--lr 1 ${MOE[@]}", "--use-mcore-models ${MOE[@]}", "--lr 1 \"${MOE[*]}\""})
    EXPECT_THAT(text_of_flags(list), AllOf(HasSubstr("# Nothing sets MOE, so flags that '"),
                                           HasSubstr("may hold are not read; --env MOE=VALUE says which.")));
  EXPECT_THAT(text_of_flags("--lr 1 $MORE"), HasSubstr("# Nothing sets MORE, so flags that '$MORE' (t.sh:1:"));
  EXPECT_THAT(text_of_flags("--use-mcore-models $MOE_ARGS"), HasSubstr("# Nothing sets MOE_ARGS"));
  EXPECT_THAT(text_of_flags("--save $FOLDER --lr 1"), Not(HasSubstr("# Nothing sets")));
  EXPECT_THAT(text_of_flags("--tensorboard-dir <Specify path> --swiglu"), HasSubstr("activation: swiglu"));
}

TEST(BadConfigurations, AreToldWhereTheyAreWrittenThoughTheScenarioContradictsItself) {
  Library library = configs();
  const std::vector<std::string> settings{"cluster.node=dgx-h100"};
  const std::string text = kFlags + "\\\n  --tensor-model-parallel-size 3";
  EXPECT_THAT(
      complaint([&] {
        Question question;
        fill(question,
             scenario_of_configuration(framework_named("megatron", ""), text, "train.sh", settings, library).tree,
             library);
      }),
      HasSubstr("train.sh:2:3: parallelism.tensor: "));
}

TEST(BadConfigurations, OfFilesNameThePath) {
  EXPECT_THAT(of_file("torchtitan", "# Copyright\n\nfrom torchtitan.trainer import Trainer\n\ndef llama3_8b():\n"),
              HasSubstr("given: found Python, in which torchtitan is configured behind v0.2.2 (config_registry.py)"));
  EXPECT_THAT(of_file("torchtitan", "a = = 1"), StartsWith("given:1:5: found no TOML: "));
  EXPECT_THAT(of_file("torchtitan", "[model]\nname = \"llama3\"\nflavour = \"8B\""),
              AllOf(StartsWith("given:3:"), HasSubstr("model.flavour: found a name"), HasSubstr("'model.flavor'")));
  EXPECT_THAT(of_file("torchtitan", "model = {name = \"llama3\", flavor = \"9B\"}"),
              HasSubstr("model.flavor: found '9B', expected a flavor whose shape is known: one of 8B, 70B, 405B"));
  EXPECT_THAT(of_file("torchtitan", "model = {name = \"llama4\", flavor = \"8B\"}"),
              HasSubstr("model.name: found 'llama4', expected a model whose shape is known"));
  const std::string model = "model = {name = \"llama3\", flavor = \"8B\"}\n";
  EXPECT_THAT(of_file("torchtitan", model + "training.dtype = \"bfloat16\""), HasSubstr("training.dtype: found"));
  EXPECT_THAT(of_file("torchtitan", model + "parallelism.tensor_parallel_degree = 3"),
              HasSubstr("cluster.gpus: found 8, expected a multiple of 3"));
  EXPECT_THAT(complaint([&] { imported("torchtitan", model); }),
              HasSubstr("parallelism.data_parallel_shard_degree: found -1"));
  EXPECT_THAT(of_file("torchtitan", "[training]\nlocal_batch_size = 1\n"),
              HasSubstr("given: model.name: missing, expected a model whose shape is known"));
  EXPECT_THAT(of_file("deepspeed", "{"), StartsWith("given:1:2: found no JSON: "));
  EXPECT_THAT(of_file("deepspeed", "[1]"), HasSubstr("given: found no object"));
  EXPECT_THAT(of_file("deepspeed", "{\"train_batch_size\": \"auto\"}"),
              HasSubstr("train_batch_size: found auto, which the Trainer fills in"));
  EXPECT_THAT(of_file("deepspeed", "{\"zero_optimisation\": {\"stage\": 1}}"),
              HasSubstr("did you mean 'zero_optimization.stage'"));
  EXPECT_THAT(of_file("deepspeed", R"({"train_batch_size": 10, "train_micro_batch_size_per_gpu": 3})"),
              HasSubstr("train_batch_size: found 10, expected a multiple of 24"));
  EXPECT_THAT(of_file("deepspeed", R"({"train_batch_size": 8, "bf16": {"enabled": true}, "fp16": {"enabled": true}})"),
              HasSubstr("fp16.enabled: found beside bf16.enabled"));
  EXPECT_THAT(of_file("nanotron", "parallelism: {dp: 1, tp: 1, pp: 1, expert_parallel_size: 2}"),
              HasSubstr("parallelism.expert_parallel_size: found '2': is a further dimension of ranks"));
  EXPECT_THAT(of_file("nanotron", "a: b: c"), StartsWith("given:1:"));
  EXPECT_THAT(
      of_file("nanotron", "model: {model_config: {is_qwen2_config: true, _use_doc_masking: true}}"),
      HasSubstr("_use_doc_masking: found 'true': changes the answer, since each document of a sample attends to "
                "itself alone; give --set training.document_length=N"));
  EXPECT_THAT(of_file("nanotron", "model: {model_config: {is_llama_config: true, _use_doc_masking: true}}"),
              Not(HasSubstr("_use_doc_masking")));
  EXPECT_THAT(of_file("nanotron", "optimizer: {adam_beta1: 0.9, torch_adam_is_fused: true}"),  // before its factory
              Not(HasSubstr("adam")));
  EXPECT_THAT(of_file("nanotron", "parallelism: {dp: 1, tp: 1}"),
              HasSubstr("parallelism.pipeline: missing, expected a whole number"));
}

TEST(BadConfigurations, OfDeepSpeedNameTheFileAndThePlace) {
  const auto of = [](const std::string& text) { return of_file("deepspeed", text); };
  EXPECT_EQ(
      of("{\"train_micro_batch_size_per_gpu\": \"auto\"}"),
      "given:1:2: train_micro_batch_size_per_gpu: found auto, which the Trainer fills in; expected a whole number");
  EXPECT_EQ(of("{}"), "given: train_batch_size: missing, expected a whole number");
  EXPECT_EQ(of("{\"train_batch_size\":\n 1e400}"),
            "given:2:2: found a number that is too large, '1e400', expected one of at most 1.8e308");
  EXPECT_THAT(of("{// a comment\n  \"zero_optimization\": {\n    \"overlap_com\": true}}"),
              StartsWith("given:3:5: zero_optimization.overlap_com: found a name that is not known of DeepSpeed"));
  EXPECT_THAT(of("{\"zero_optimization\": {\"stage\": 5}}"),
              StartsWith("given:1:24: zero_optimization.stage: found '5', expected one of 0, 1, 2, 3"));
  EXPECT_EQ(of("# YAML"), "given:1:1: found no JSON: '# YAML' cannot stand here");
  EXPECT_EQ(of("{\"zero_optimization\": {\"stage\": 3, \"stage\": 1}}"),
            "given:1:36: zero_optimization.stage: found twice, expected once");
  EXPECT_THAT(of("{\"a\": " + std::string(100'000, '[') + std::string(100'000, ']') + "}"),
              HasSubstr("given:1:38: found lists and objects inside each other, expected at most 32 levels"));
  // The Trainer's file is read in the same way.
  EXPECT_THAT(complaint([] {
                imported("hf-trainer",
                         "cat <<EOT > ds.json\n{\"a\": " + std::string(100'000, '[') + std::string(100'000, ']') +
                             "}\nEOT\ntorchrun --nproc_per_node 8 train.py --model_name_or_path gpt2 --block_size "
                             "1024 --deepspeed ds.json");
              }),
              StartsWith("ds.json:1:38: found lists and objects inside each other"));
}

TEST(BadConfigurations, OfHydraNameTheKey) {
  const std::string model = "model.num_layers=8 model.hidden_size=1024 model.num_attention_heads=16 ";
  EXPECT_THAT(of_file("nemo", "model.num_layer=8 model.hidden_size=1024"),
              AllOf(StartsWith("given:1:1: model.num_layer: found a name that is not known of NeMo"),
                    HasSubstr("did you mean 'model.num_layers'")));
  EXPECT_THAT(of_file("nemo", "model:\n  num_layers: 8\n  hidden_sise: 4"),
              StartsWith("given:3:16: model.hidden_sise:"));
  EXPECT_THAT(of_file("nemo", model + "model.transformer_block_type=post_ln"),
              HasSubstr("model.transformer_block_type: found 'post_ln': changes the answer"));
  EXPECT_THAT(of_file("nemo", model + "model.fp8=true"), HasSubstr("model.transformer_engine: found no true beside"));
  EXPECT_THAT(of_file("nemo", "python x.py --config-name=absent"), HasSubstr("found 'absent.yaml', but no such file"));
  EXPECT_THAT(of_file("megatron-bridge", "--recipe llama3_8b train.train_iters=4"), HasSubstr("is Python"));
  EXPECT_THAT(of_file("megatron-bridge", model + "mixed_precision.bf16=true mixed_precision.fp16=true"),
              HasSubstr("mixed_precision.fp16: found beside mixed_precision.bf16"));
  EXPECT_THAT(of_file("megatron-bridge", model + "model.recompute_granularity=full"),
              HasSubstr("model.recompute_method: missing beside model.recompute_granularity full"));
  EXPECT_THAT(complaint([] { imported("nemo", "python train.py exp_dir=<7b> model.num_layers=8"); }),
              HasSubstr("found '> model.num_layers=8', which a shell takes for a file of that name"));
  EXPECT_THAT(of_file("megatron-bridge", "just words"), HasSubstr("given: found neither keys nor overrides"));
}

TEST(BadConfigurations, OfTheTrainerNameTheFlag) {
  const auto of = [](const std::string& more) {
    return complaint([&] {
      imported("hf-trainer",
               "torchrun --nproc_per_node 8 train.py --model_name_or_path gpt2 --block_size 1024 " + more);
    });
  };
  EXPECT_EQ(of("--bf16"), "");
  EXPECT_THAT(of("--bf16 --fp16 True"), HasSubstr("--fp16: found beside --bf16"));
  EXPECT_THAT(of("--per_device_train_batchsize 4"), HasSubstr("did you mean '--per_device_train_batch_size'"));
  EXPECT_EQ(
      imported(
          "hf-trainer",
          "torchrun --nproc_per_node 8 t.py --model_name_or_path mistralai/Mixtral-8x7B-v0.1 --block_size 512 --bf16 "
          "--fsdp full_shard")
          .software.expert_loop,
      true);
  EXPECT_THAT(of("--optim rmsprop"), HasSubstr("--optim: found 'rmsprop', expected one of adamw_torch"));
  EXPECT_THAT(of("--torch_compile"), HasSubstr("--torch_compile: found 'true': changes the answer"));
  EXPECT_THAT(of("--micro_batch_size 2"), HasSubstr("; did you mean '--per_device_train_batch_size'?"));  // Axolotl's
  EXPECT_THAT(of("--deepspeed absent.json"), HasSubstr("--deepspeed: found 'absent.json', but no such file"));
  EXPECT_THAT(of("--deepspeed $FILE"), HasSubstr("--deepspeed: found '$FILE', expected the name of a JSON file"));
  EXPECT_THAT(of("--fsdp 'whole auto_wrap'"), HasSubstr("--fsdp: found 'whole auto_wrap', expected full_shard"));
  EXPECT_THAT(of("--fsdp_config '{\"fsdp_reshard\": true}' --fsdp full_shard"), HasSubstr("fsdp_config.reshard"));
  EXPECT_THAT(of("--fsdp_config '{\"a\": ' --fsdp full_shard"), StartsWith("given:1:82: --fsdp_config:"));
  EXPECT_THAT(of("--gradient_checkpointing_kwargs '{x}'"), StartsWith("given:1:82: --gradient_checkpointing_kwargs:"));
  for (const char* const size : {"tp", "cp", "dp_shard", "dp_replicate"}) {
    const std::string flag = "--parallelism_config_" + std::string(size) + "_size";
    EXPECT_THAT(of("--use_deepspeed true --zero_stage 3 " + flag + " 2"),
                HasSubstr(flag + ": found '2', expected 1 beside DeepSpeed"));
    EXPECT_EQ(of("--use_deepspeed true --zero_stage 3 " + flag + " 1"), "");
  }
  EXPECT_THAT(of("--gradient_accumulation_steps x"), HasSubstr("--gradient_accumulation_steps: found 'x'"));
  EXPECT_THAT(complaint([] { imported("hf-trainer", "python train.py --bf16 --block_size 8"); }),
              HasSubstr("--nproc_per_node: missing"));
}

// Megatron's layers have the norms of latent attention's compressed vectors where --qk-layernorm stands; ours always.
TEST(Configurations, OfLatentAttentionSayItsNormsAsThoseOfQueriesAndKeys) {
  const std::string latent =
      "--multi-latent-attention --kv-lora-rank 512 --q-lora-rank 768 --swiglu --normalization RMSNorm "
      "--disable-bias-linear --num-experts 8 --moe-token-dispatcher-type alltoall --position-embedding-type rope "
      "--untie-embeddings-and-output-weights ";
  EXPECT_EQ(imported("megatron", kFlags + latent + "--qk-layernorm").model.latent.kv_rank, 512);
  Library library = configs();
  const Node tree = parse_yaml(
      "cluster: {node: dgx-h100}\nmodel: deepseek-v2-lite\nparallelism: {tensor: 1, expert: 2}\n"
      "training: {global_batch: 32, micro_batch: 1, sequence: 1024}\n",
      "small.yaml");
  const auto written = [&](const char* framework) {
    return emit(framework_named(framework, ""), read_scenario(tree, library), tree).text;
  };
  EXPECT_THAT(written("megatron"), HasSubstr("--qk-layernorm"));
  EXPECT_THAT(written("megatron-bridge"), HasSubstr("qk_layernorm: true"));
}

TEST(Configurations, OfTheTrainerHoldTheFilesThatTheyName) {
  const std::string script =
      "STAGE=2\ncat <<EOT > ds.json\n{\"zero_optimization\": {\"stage\": $STAGE, \"reduce_bucket_size\": 5e8},\n"
      "\"bf16\": {\"enabled\": \"auto\"}, \"train_micro_batch_size_per_gpu\": \"auto\"}\nEOT\n"
      "torchrun --nnodes 2 --nproc_per_node 8 train.py --model_name_or_path openai-community/gpt2-xl --block_size 1024 "
      "--deepspeed ds.json --bf16 --per_device_train_batch_size 4 --gradient_accumulation_steps 2";
  const schedules::Scenario s = imported("hf-trainer", script);
  EXPECT_EQ(s.model.name, "gpt2-1.5b");
  EXPECT_EQ(s.data_parallel.zero, 2);
  EXPECT_EQ(s.training.global_batch, 128);
  EXPECT_EQ(s.training.precision, schedules::Precision::bf16);
}

// TRL's "--config" names a file of arguments, which name files as flags do.
TEST(Configurations, OfTheTrainerFollowFilesThatAFileOfArgumentsNames) {
  const auto with = [](const std::string& arguments, const std::string& more = "") {
    return imported("hf-trainer",
                    "cat > ds.json <<'EOT'\n{\"zero_optimization\": {\"stage\": 3}}\nEOT\n"
                    "cat > fsdp.json <<'EOT'\n{\"version\": 2}\nEOT\n"
                    "cat > rec.yaml <<'EOT'\n" +
                        arguments +
                        "EOT\ntorchrun --nproc_per_node 8 train.py --model_name_or_path gpt2 --block_size 1024 --bf16 "
                        "--config rec.yaml " +
                        more);
  };
  EXPECT_EQ(with("deepspeed: ds.json\n").data_parallel.zero, 3);
  EXPECT_EQ(with("fsdp: full_shard\nfsdp_config: fsdp.json\n").software.name, "pytorch-fsdp2");
  EXPECT_EQ(with("gradient_checkpointing: true\ngradient_checkpointing_kwargs: '{\"use_reentrant\": false}'\n")
                .software.recompute_stops_early,
            true);
  EXPECT_EQ(with("per_device_train_batch_size: 4\n").training.micro_batch, 4);
  EXPECT_EQ(with("per_device_train_batch_size: 4\n", "--per_device_train_batch_size 2").training.micro_batch, 2);
}

TEST(Configurations, SayOfWhichFileALineIs) {
  const std::string script =
      "cat > rec.yaml <<'EOT'\n\nper_device_train_batch_size: 4\nEOT\n"
      "torchrun --nproc_per_node 8 train.py --model_name_or_path gpt2 --block_size 1024 --bf16 "
      "--config rec.yaml";
  Library library = configs();
  const std::vector<std::string> settings{"cluster.node=dgx-h100"};
  const std::string text =
      scenario_of_configuration(framework_named("hf-trainer", ""), script, "given", settings, library).text;
  EXPECT_THAT(text, HasSubstr("--per_device_train_batch_size, line 2 of rec.yaml\n"));
  EXPECT_THAT(text, HasSubstr("--block_size, line 5\n"));
}

TEST(Configurations, OfHydraLieOverEachOtherAndNameEachOther) {
  const auto sizes = [](const std::string& text) {
    const schedules::Scenario s =
        imported("nemo",
                 text +
                     " model.num_layers=8 model.num_attention_heads=16 trainer.num_nodes=1 trainer.devices=8 "
                     "model.encoder_seq_length=1024 model.micro_batch_size=1 model.global_batch_size=8",
                 {"cluster.node=dgx-h100", "model.vocab=51200"});
    return std::to_string(s.model.hidden) + " " + std::to_string(s.model.ffn);
  };
  EXPECT_EQ(sizes("model.hidden_size=1024 ++model.ffn_hidden_size=2048"), "1024 2048");
  EXPECT_EQ(sizes("model.hidden_size=1024 'model.ffn_hidden_size=${multiply:3, ${.hidden_size}}'"), "1024 3072");
  EXPECT_EQ(sizes("model.hidden_size=2048 model.hidden_size=1024 'model.ffn_hidden_size=${model.hidden_size}'"),
            "1024 1024");
  EXPECT_EQ(sizes("model.hidden_size=1024 model.ffn_hidden_size=64 ~model.ffn_hidden_size"), "1024 4096");
  // What is in front of the program is the launcher's, and its environment's.
  EXPECT_EQ(sizes("env NCCL_DEBUG=INFO numactl --membind=0 python -u -m nemo.train model.hidden_size=1024"),
            "1024 4096");
}

/// What emit says of quickstart's plan with settings over it.
std::string of_plan(const std::string& framework, const std::string& keys) {
  return complaint([&] {
    Library library = configs();
    Node tree = parse_yaml(kSmall, "small.yaml");
    merge(scenario_schema(), tree, parse_yaml(keys, "keys.yaml"));
    emit(framework_named(framework, ""), read_scenario(tree, library), tree);
  });
}

TEST(BadPlans, AreRefusedByTheKeyThatTheFrameworkHasNothingFor) {
  EXPECT_EQ(of_plan("megatron", "name: small"), "");
  EXPECT_THAT(
      of_plan("megatron", "pipeline: {schedule: gpipe}\nparallelism: {pipeline: 2}"),
      HasSubstr("pipeline.schedule: found 'gpipe', which Megatron-LM cannot: it has 1f1b and interleaved-1f1b"));
  EXPECT_THAT(of_plan("megatron", "model: {activation: relu}"),
              HasSubstr("model.activation: found 'relu', which Megatron-LM cannot: it has gelu and swiglu"));
  EXPECT_THAT(of_plan("megatron", "parallelism: {tensor: 4, tensor_grid: 2x2}"), HasSubstr("parallelism.tensor_grid"));
  for (const char* framework : {"megatron", "megatron-bridge", "nemo"})
    EXPECT_THAT(of_plan(framework, "training: {precision: fp8, scaling: rowwise}"),
                HasSubstr("training.scaling: found rowwise, which Transformer Engine has not"));
  EXPECT_THAT(of_plan("nemo", "model: deepseek-v2-lite"), HasSubstr("model.latent.head: found "));
  EXPECT_EQ(of_plan("nemo", "parallelism: {pipeline: 2}"), "");
  EXPECT_THAT(of_plan("nemo", "parallelism: {pipeline: 2, layers_per_stage: [5, 3]}"),
              HasSubstr("parallelism.layers_per_stage: found '[5, 3]', which NeMo cannot be told"));
  EXPECT_THAT(of_plan("nemo", "parallelism: {order: [tensor, context, pipeline, data]}"),
              HasSubstr("parallelism.order: found "));
  EXPECT_THAT(of_plan("nemo", "data_parallel: {zero: 3, gradient_precision: fp16}"),
              StartsWith("data_parallel.gradient_precision: found 'fp16', which NeMo has not"));
  EXPECT_THAT(of_plan("nemo", "recompute: {modules: [mlp]}"),
              HasSubstr("recompute.modules: found '[mlp]', which NeMo cannot: it recomputes the attention core alone"));
  EXPECT_EQ(of_plan("nemo", "recompute: {modules: [core_attn]}"), "");
  EXPECT_THAT(of_plan("nemo", "offload: {optimizer: host}"),
              HasSubstr("offload.optimizer: found 'host', which NeMo cannot: it keeps the optimizer on the GPUs"));
  EXPECT_THAT(of_plan("nemo", "training: {precision: fp8, bf16_layers_at_start: 1}"),
              HasSubstr("training.bf16_layers_at_start: found '1'"));
  EXPECT_THAT(of_plan("megatron", "offload: {parameters: host}"), HasSubstr("offload.parameters: found 'host'"));
  EXPECT_THAT(of_plan("megatron", "data_parallel: {mode: parameter_server}"), HasSubstr("data_parallel.mode"));
  EXPECT_THAT(of_plan("megatron", "data_parallel: {gradient_precision: fp16}"),
              HasSubstr("data_parallel.gradient_precision: found 'fp16'"));
  EXPECT_THAT(of_plan("megatron", "model: {base: bert-base, family: bert, layers: 12, hidden: 768, heads: 12}"),
              HasSubstr("model.family: found no decoder"));
  EXPECT_THAT(of_plan("deepspeed", "parallelism: {context: 2}\ntraining: {attention: flash}"),
              HasSubstr("parallelism.context: found '2', which DeepSpeed cannot: its sequence parallelism is Ulysses"));
  EXPECT_THAT(of_plan("deepspeed", "parallelism: {pipeline: 2}\ndata_parallel: {zero: 2}"),
              HasSubstr("data_parallel.zero: found 2 with a pipeline"));
  EXPECT_THAT(of_plan("deepspeed", "parallelism: {tensor: 2, sequence: true}"),
              HasSubstr("parallelism.sequence: found 'true', but DeepSpeed's tensor ranks"));
  EXPECT_THAT(of_plan("torchtitan", "name: small"), HasSubstr("model: found a shape that no flavor of torchtitan has"));
  const std::string titan = "model: llama3-8b\nsoftware: torchtitan\n";
  EXPECT_EQ(of_plan("torchtitan", titan + "data_parallel: {zero: 3}"), "");
  EXPECT_EQ(of_plan("torchtitan", titan), "");
  // One rank shards nothing in torchtitan; ZeRO 3 gathers a layer's parameters beside their shard all the same.
  EXPECT_THAT(of_plan("torchtitan", titan + "data_parallel: {zero: 3}\ncluster: {gpus: 1}"),
              HasSubstr("data_parallel.zero: found '3', expected 0: there are no ranks to share parameters"));
  EXPECT_THAT(of_plan("torchtitan", titan + "parallelism: {context: 2}\ntraining: {attention: flash}"),
              HasSubstr("data_parallel.zero: found '0'"));
  EXPECT_THAT(of_plan("torchtitan", titan + "data_parallel: {zero: 1}"), HasSubstr("ZeRO 1 torchtitan has not"));
  EXPECT_THAT(of_plan("torchtitan", titan + "data_parallel: {zero: 3}\nrecompute: selective"),
              HasSubstr("recompute: found selective"));
  const std::string sharded = titan + "data_parallel: {zero: 3}\n";
  EXPECT_EQ(of_plan("torchtitan", sharded + "recompute: {full_layers: 8}"), "");
  EXPECT_EQ(of_plan("torchtitan", sharded + "recompute: {full_layers: 32}"), "");
  EXPECT_THAT(of_plan("torchtitan", sharded + "recompute: {full_layers: 12}"),
              HasSubstr("recompute.full_layers: found '12'"));
  for (const char* framework : {"megatron", "megatron-bridge", "nemo"})
    EXPECT_THAT(of_plan(framework, "recompute: by-operator"), HasSubstr("recompute: found by-operator")) << framework;
  EXPECT_THAT(of_plan("torchtitan", titan + "data_parallel: {zero: 3}\nparallelism: {tensor: 2}"),
              HasSubstr("parallelism.sequence: found false"));
  EXPECT_THAT(of_plan("nanotron", "name: small"), HasSubstr("model.activation: found 'gelu', which nanotron has not"));
  const std::string llama = "model: llama3-8b\nsoftware: nanotron\n";
  EXPECT_EQ(of_plan("nanotron", llama), "");
  EXPECT_THAT(of_plan("nanotron", llama + "data_parallel: {zero: 2}"),
              HasSubstr("data_parallel.zero: found '2', which nanotron has not; expected one of 0, 1"));
  EXPECT_THAT(of_plan("nanotron", llama + "recompute: selective"), HasSubstr("recompute: found 'selective'"));
  EXPECT_THAT(of_plan("nanotron", llama + "data_parallel: {bucket: 1 MB}"),
              HasSubstr("data_parallel.bucket: found '1000000 B', expected a multiple of"));
}

TEST(BadPlans, GivenAsListsAreForAFileNotForASetting) {
  Library library = configs();
  const Node tree = parse_yaml(
      "cluster: {node: dgx-1-v100-16gb}\nmodel: {family: mlp, inputs: 784, network: [{op: linear, out: 10}]}\n"
      "training: {global_batch: 8, micro_batch: 1, precision: fp16}\n",
      "mlp.yaml");
  const Emitted emitted = emit(framework_named("deepspeed", ""), read_scenario(tree, library), tree);
  EXPECT_THAT(emitted.text, HasSubstr("model.network is a list, which --set does not take"));
  for (const std::string& each : emitted.left) EXPECT_FALSE(each.starts_with("model."));
}

}  // namespace
}  // namespace stepcast::language
