// Configurations of torchtitan's as its repository has them (published_test.cpp has the other frameworks').

#include <gtest/gtest.h>

#include "language/frameworks/tables/torchtitan_flavors.h"
#include "tests/language/frameworks/configurations.h"
#include "tests/language/frameworks/published.h"

namespace stepcast::language {
namespace {

// github.com/pytorch/torchtitan v0.2.2 @73a0e69, torchtitan/models/llama3/train_configs/llama3_8b.toml
constexpr const char* kTitan8b = R"(
[job]
description = "Llama 3 8B training"
[model]
name = "llama3"
flavor = "8B"
hf_assets_path = "./assets/hf/Llama-3.1-8B"
[optimizer]
name = "AdamW"
lr = 3e-4
[training]
local_batch_size = 1
seq_len = 8192
steps = 1000
dataset = "c4"
[parallelism]
data_parallel_replicate_degree = 1
data_parallel_shard_degree = -1
tensor_parallel_degree = 1
pipeline_parallel_degree = 1
context_parallel_degree = 1
[compile]
enable=false
components = ["model", "loss"]
[activation_checkpoint]
mode = "selective"  # ["none", "selective", "full"]
selective_ac_option = "op"
[quantize.linear.float8]
enable_fsdp_float8_all_gather = false
filter_fqns = ["output"]
)";

TEST(Published, Llama3InTorchtitan) {
  const std::vector<std::string> on_64{"cluster.node=dgx-a100-80gb", "cluster.gpus=64"};
  const auto s = imported("torchtitan", kTitan8b, on_64);
  EXPECT_EQ(said_of(s, kPlan), "1 1 64 1 64 bf16 3 by-operator");
  EXPECT_EQ(said_of(s, {"recompute", "software", "training.sequence"}), "by-operator torchtitan 8192");
  EXPECT_EQ(s.model.name, "llama3-8b");
  const auto option = [&](const char* text) {
    std::string titan = kTitan8b;
    const std::string op = "selective_ac_option = \"op\"\n";
    titan.replace(titan.find(op), op.size(), text);
    return said_of(imported("torchtitan", titan, on_64), {"recompute", "recompute.full_layers"});
  };
  EXPECT_EQ(option("selective_ac_option = \"1\"\n"), "full ");
  EXPECT_EQ(option("selective_ac_option = \"4\"\n"), "8");
  EXPECT_EQ(option("selective_ac_option = \"33\"\n"), "none ");
  EXPECT_EQ(option(""), "16");  // every second layer is the default
  // 16 layers on either of two stages, beside embedding or head; 8, 9, 8 and 7 on four.
  const auto staged = [&](const char* stages) {
    std::string titan = kTitan8b;
    titan.erase(titan.find("selective_ac_option"), titan.find("[quantize") - titan.find("selective_ac_option"));
    const std::string one = "pipeline_parallel_degree = 1";
    titan.replace(titan.find(one), one.size(), std::string("pipeline_parallel_degree = ") + stages);
    titan.replace(titan.find("local_batch_size = 1"), 20, "local_batch_size = 8");
    return said_of(imported("torchtitan", titan, on_64), {"recompute.full_layers"});
  };
  EXPECT_EQ(staged("2"), "8");
  EXPECT_EQ(staged("4"), "4");
  EXPECT_THROW(option("selective_ac_option = \"each\"\n"), InputError);
  std::string silent = kTitan8b;
  silent.erase(silent.find("mode = \"selective\""),
               silent.find("selective_ac_option") - silent.find("mode = \"selective\""));
  EXPECT_EQ(said_of(imported("torchtitan", silent, on_64), {"recompute"}), "by-operator");

  // llama3_405b.toml beside it: a preset for 128 H100.
  const auto large = imported("torchtitan", R"(
model = {name = "llama3", flavor = "405B", converters = ["float8"]}
training = {local_batch_size = 2, seq_len = 8192}
parallelism = {tensor_parallel_degree = 8, enable_async_tensor_parallel = true}
activation_checkpoint.mode = "full"
compile.enable = true
quantize.linear.float8 = {enable_fsdp_float8_all_gather = true, precompute_float8_dynamic_scale_for_fsdp = true}
)",
                              {"cluster.node=dgx-h100", "cluster.gpus=128"});
  EXPECT_EQ(said_of(large, kPlan), "8 1 16 2 32 fp8 3 full");
  EXPECT_EQ(said_of(large, {"training.eight_bit_parameters", "training.scaling", "software", "software.tensor_overlap",
                            "parallelism.sequence"}),
            "true current torchtitan-float8 all true");
}

// torchtitan v0.2.2, torchtitan/config/job_config.py, disable_loss_parallel: the logits are gathered.
TEST(Published, ALossThatTorchtitanDoesNotSplit) {
  const std::string text =
      "model = {name = \"llama3\", flavor = \"8B\"}\ntraining = {local_batch_size = 1, seq_len = "
      "8192}\nactivation_checkpoint.mode = \"full\"\nparallelism = {tensor_parallel_degree = 8";
  const std::vector<std::string> on_64{"cluster.node=dgx-h100", "cluster.gpus=64"};
  const std::vector<std::string> key{"software.loss_parallel"};
  EXPECT_EQ(said_of(imported("torchtitan", text + "}\n", on_64), key), "true");
  EXPECT_EQ(said_of(imported("torchtitan", text + ", disable_loss_parallel = true}\n", on_64), key), "false");
}

// github.com/pytorch/torchtitan @820504e, docs/float8.md: "float8 with rowwise scaling".
TEST(Published, RowwiseFloat8InTorchtitan) {
  const std::string text = R"(
model = {name = "llama3", flavor = "8B", converters = ["float8"]}
training = {local_batch_size = 12, seq_len = 8192}
parallelism = {tensor_parallel_degree = 8}
activation_checkpoint.mode = "full"
compile.enable = true
quantize.linear.float8.recipe_name = )";
  const std::vector<std::string> on_64{"cluster.node=dgx-h100", "cluster.gpus=64"};
  const std::vector<std::string> keys{"training.precision", "training.scaling", "training.eight_bit_parameters"};
  const auto rows = imported("torchtitan", text + "\"rowwise\"", on_64);
  EXPECT_EQ(said_of(rows, keys), "fp8 rowwise ");
  EXPECT_EQ(said_of(imported("torchtitan", text + "\"tensorwise\"", on_64), keys), "fp8 current ");
  EXPECT_THROW(imported("torchtitan", text + "\"rowwise_with_gw_hp\"", on_64), InputError);
}

// github.com/pytorch/torchtitan v0.2.2 @73a0e69, docs/converging.md and tests/integration_tests: pipelines that take
// the defaults of layers per stage.
TEST(Published, PipelinesOfTorchtitanShareOutLayersAsItDoes) {
  const std::string with_two = std::string(kTitan8b) + "[profiling]\nenable_profiling = false\n";
  std::string text = with_two;
  text.replace(text.find("pipeline_parallel_degree = 1"), 28,
               "pipeline_parallel_degree = 4\npipeline_parallel_schedule = \"Interleaved1F1B\"");
  text.replace(text.find("local_batch_size = 1"), 20, "local_batch_size = 8");
  const auto s = imported("torchtitan", text, {"cluster.node=dgx-h100", "cluster.gpus=8"});
  // 32 layers, embedding and head counted: 34 over 8 chunks, the first two get one more.
  EXPECT_EQ(said_of(s, {"pipeline.virtual_stages", "parallelism.layers_per_stage", "data_parallel.zero",
                        "training.micro_batch", "training.global_batch"}),
            "2 [4, 5, 4, 4, 4, 4, 4, 3] 2 1 16");
}

// github.com/pytorch/torchtitan @038d5fd, torchtitan/models/llama3/train_configs/llama3_70b.toml: a preset for 64 A100;
// and @881f0ca, torchtitan/models/deepseek_v3/train_configs/deepseek_v3_16b.toml
TEST(Published, LargeModelsInTorchtitan) {
  const auto llama = imported("torchtitan", R"(
[model]
name = "llama3"
flavor = "70B"
hf_assets_path = "./assets/hf/Llama-3.1-70B"
[optimizer]
name = "AdamW"
lr = 1.5e-4
[training]
local_batch_size = 8
seq_len = 8192
max_norm = 1.0
[parallelism]
data_parallel_replicate_degree = 1
data_parallel_shard_degree = -1
tensor_parallel_degree = 8  # 8-way TP
pipeline_parallel_degree = 1
context_parallel_degree = 1
[activation_checkpoint]
mode = "full"
[compile]
enable=false
)",
                              {"cluster.node=dgx-a100-80gb", "cluster.gpus=64"});
  EXPECT_EQ(said_of(llama, kPlan), "8 1 8 8 64 bf16 3 full");
  const auto deepseek = imported("torchtitan", R"(
[model]
name = "deepseek_v3"
flavor = "16B"
[training]
local_batch_size = 8
seq_len = 4096
[parallelism]
data_parallel_replicate_degree = 1
data_parallel_shard_degree = -1
fsdp_reshard_after_forward = "default" # default / never / always
tensor_parallel_degree = 1
enable_async_tensor_parallel = false
expert_parallel_degree = 1
pipeline_parallel_degree = 1
pipeline_parallel_schedule = "Interleaved1F1B"
[activation_checkpoint]
mode = "full"  # ["none", "selective", "full"]
)",
                                 {"cluster.node=dgx-h100", "cluster.gpus=64"});
  EXPECT_EQ(said_of(deepseek, kPlan), "1 1 64 8 512 bf16 3 full");
  EXPECT_EQ(deepseek.model.name, "deepseek-v2-lite");
}

// github.com/pytorch/torchtitan, torchtitan/models/qwen3/train_configs: qwen3_32b.toml (@a48b651, but for its
// [training.data], which later releases do not have) and qwen3_30b_a3b.toml (@24f66ec), presets for 8 H100.
TEST(Published, Qwen3InTorchtitan) {
  const std::vector<std::string> on_8{"cluster.node=dgx-h100", "cluster.gpus=8"};
  const auto dense = imported("torchtitan", R"(
[model]
name = "qwen3"
flavor = "32B"
[training]
local_batch_size = 2
seq_len = 4096
[parallelism]
data_parallel_replicate_degree = 1
data_parallel_shard_degree = -1
fsdp_reshard_after_forward = "default" # default / never / always
tensor_parallel_degree = 1
context_parallel_degree = 1
[activation_checkpoint]
mode = "full"  # ["none", "selective", "full"]
selective_ac_option = "op"  # "int" = ac every positive int layer or 'op', ac based on ops policy
[compile]
enable=false
components = ["model", "loss"]
)",
                              on_8);
  EXPECT_EQ(said_of(dense, kPlan), "1 1 8 2 16 bf16 3 full");
  EXPECT_EQ(dense.model.name, "qwen3-32b");
  const auto sparse = imported("torchtitan", R"(
[model]
name = "qwen3"
flavor = "30B-A3B"
[training]
local_batch_size = 2
global_batch_size = 128
seq_len = 4096
[parallelism]
data_parallel_shard_degree = -1
tensor_parallel_degree = 1
enable_async_tensor_parallel = false
expert_parallel_degree = 2
expert_tensor_parallel_degree = 1
[activation_checkpoint]
mode = "full"
)",
                               on_8);
  EXPECT_EQ(said_of(sparse, kPlan), "1 1 8 2 128 bf16 3 full");
  EXPECT_EQ(said_of(sparse, {"parallelism.expert"}), "2");
}

TEST(Published, FlavorsOfTorchtitanAreTheModelsThatStandForThem) {
  for (const Flavor& flavor : flavors()) {
    const schedules::Scenario s = small_with("{model: " + std::string(flavor.config) + ", cluster: {nodes: 1}}");
    EXPECT_TRUE(has_shape(words_of(s), flavor)) << flavor.config;
    for (const Flavor& other : flavors())
      EXPECT_EQ(has_shape(words_of(s), other), &other == &flavor) << flavor.config << " " << other.config;
  }
}

}  // namespace
}  // namespace stepcast::language
