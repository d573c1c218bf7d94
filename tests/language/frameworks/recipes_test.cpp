// Recipes of TRL, open-r1 and LLaMA-Factory: files of arguments beside accelerate's.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/language/frameworks/configurations.h"

namespace stepcast::language {
namespace {

using testing::HasSubstr;

const std::string kArguments =
    "model_name_or_path: meta-llama/Llama-3.1-8B\nbf16: true\nmax_length: 4096\nper_device_train_batch_size: 1\n"
    "gradient_accumulation_steps: 2\n";

schedules::Scenario of_arguments(const std::string& more) {
  return imported("hf-trainer", kArguments + more, {"cluster.node=dgx-h100", "cluster.gpus=8"});
}

std::string text_of(const std::string& text) {
  Library library = configs();
  const std::vector<std::string> settings{"cluster.node=dgx-h100", "cluster.gpus=8"};
  return scenario_of_configuration(framework_named("hf-trainer", ""), text, "given", settings, library).text;
}

// github.com/huggingface/open-r1 @c72fda3, recipes/OlympicCoder-7B/sft/config_v00.00.yaml, but for names of data and
// the model; started as its README says, with accelerate's file of the alignment handbook.
TEST(Recipes, OfOpenR1AreReadBesideAcceleratesFile) {
  const std::string script = R"(cat > zero3.yaml <<'EOT'
distributed_type: DEEPSPEED
deepspeed_config:
  deepspeed_multinode_launcher: standard
  offload_optimizer_device: none
  offload_param_device: none
  zero3_init_flag: true
  zero3_save_16bit_model: true
  zero_stage: 3
mixed_precision: bf16
num_machines: 1
num_processes: 8
EOT
cat > recipe.yaml <<'EOT'
model_name_or_path: meta-llama/Llama-3.1-8B
torch_dtype: bfloat16
attn_implementation: flash_attention_2
bf16: true
gradient_accumulation_steps: 8
gradient_checkpointing: true
gradient_checkpointing_kwargs:
  use_reentrant: false
lr_scheduler_type: cosine_with_min_lr
lr_scheduler_kwargs:
  min_lr_rate: 0.1
packing: false
max_length: 32768
per_device_train_batch_size: 2
report_to:
- wandb
use_liger: true
EOT
ACCELERATE_LOG_LEVEL=info accelerate launch --config_file zero3.yaml src/open_r1/sft.py --config recipe.yaml \
  --per_device_train_batch_size 1
)";
  const auto s = imported("hf-trainer", script);
  EXPECT_EQ(s.training.global_batch, 64);  // a flag counts more than the file
  EXPECT_EQ(s.training.sequence, 32768);
  EXPECT_EQ(s.data_parallel.zero, 3);
  EXPECT_EQ(s.recompute, schedules::Recompute::full);
  EXPECT_TRUE(s.software.recompute_stops_early);
  EXPECT_TRUE(s.software.fused_linear_cross_entropy);
  EXPECT_FALSE(s.software.composite_operators);
  EXPECT_THAT(text_of(script), HasSubstr("not packed: samples may be shorter than this"));
}

TEST(Recipes, MayLoadWeightsIn16BitsWhereTheirShardsHaveCopies) {
  EXPECT_THAT(complaint([] { of_arguments("torch_dtype: bfloat16\n"); }),
              HasSubstr("--torch_dtype: found 'bf16', expected float32"));
  EXPECT_EQ(of_arguments("torch_dtype: bfloat16\nfsdp: full_shard\n").data_parallel.zero, 3);
}

TEST(Recipes, OfLlamaFactoryRecomputeUnlessTold) {
  const std::string factory = "stage: sft\nfinetuning_type: full\n";
  EXPECT_EQ(of_arguments("").recompute, schedules::Recompute::none);
  EXPECT_EQ(of_arguments(factory).recompute, schedules::Recompute::full);
  EXPECT_EQ(of_arguments(factory + "gradient_checkpointing: false\n").recompute, schedules::Recompute::full);
  EXPECT_EQ(of_arguments(factory + "disable_gradient_checkpointing: true\n").recompute, schedules::Recompute::none);
  EXPECT_TRUE(of_arguments(factory + "use_reentrant_gc: false\n").software.recompute_stops_early);
}

TEST(Recipes, MayHaveMomentsInEightBits) {
  using schedules::MomentPrecision;
  const schedules::Scenario adam = of_arguments("optim: paged_adamw_8bit\n"), lion = of_arguments("optim: lion_8bit\n");
  EXPECT_EQ(adam.training.optimizer, schedules::Optimizer::adam);
  EXPECT_EQ(adam.software.moment_precision, MomentPrecision::int8);
  EXPECT_EQ(lion.training.optimizer, schedules::Optimizer::lion);
  EXPECT_EQ(lion.software.moment_precision, MomentPrecision::int8);
  EXPECT_EQ(of_arguments("optim: lion_32bit\n").software.moment_precision, MomentPrecision::fp32);
  EXPECT_EQ(of_arguments("optim: adafactor\n").training.optimizer, schedules::Optimizer::adafactor);
}

// github.com/huggingface/trl, examples/accelerate_configs/context_parallel_2gpu.yaml, with the sizes given.
TEST(Recipes, OfAcceleratesParallelismAreRead) {
  const auto with = [](const std::string& sizes) {
    return imported("hf-trainer", kArguments +
                                      "distributed_type: FSDP\nfsdp_config:\n"
                                      "  fsdp_activation_checkpointing: true\n"
                                      "  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP\n"
                                      "  fsdp_cpu_ram_efficient_loading: true\n  fsdp_offload_params: false\n"
                                      "  fsdp_reshard_after_forward: true\n  fsdp_state_dict_type: FULL_STATE_DICT\n"
                                      "  fsdp_version: 2\nmixed_precision: bf16\nnum_machines: 1\nnum_processes: 8\n"
                                      "parallelism_config:\n" +
                                      sizes);
  };
  const auto context = with("  parallelism_config_cp_size: 2\n  parallelism_config_dp_shard_size: 4\n");
  EXPECT_EQ(context.parallelism.context, 2u);
  EXPECT_EQ(context.parallelism.data, 4u);
  EXPECT_EQ(context.training.global_batch, 8);
  EXPECT_EQ(context.data_parallel.zero, 3);
  EXPECT_EQ(context.software.name, "pytorch-fsdp2");
  const auto both = with(
      "  parallelism_config_tp_size: 2\n  parallelism_config_dp_replicate_size: 2\n"
      "  parallelism_config_dp_shard_size: 2\n");
  EXPECT_EQ(both.parallelism.tensor, 2u);
  EXPECT_EQ(both.parallelism.data, 4u);
  EXPECT_EQ(both.data_parallel.shard_group, 2u);
  EXPECT_THAT(complaint([&] { with("  parallelism_config_tp_size: 3\n"); }),
              HasSubstr("found '3', expected sizes that multiply to the 8 GPUs, not to 3"));
  for (const char* const replicas : {"2", "3", "16"})
    EXPECT_THAT(complaint([&] { with("  parallelism_config_dp_replicate_size: " + std::string(replicas) + "\n"); }),
                HasSubstr("dp_replicate_size: found '" + std::string(replicas) + "', expected sizes that multiply to"));
  EXPECT_EQ(with("  parallelism_config_dp_replicate_size: 8\n").data_parallel.zero, 0);
}

TEST(Recipes, MayNameZerosSettingsWithoutTheirPrefix) {
  EXPECT_EQ(imported("deepspeed", R"({"train_batch_size": 8, "train_micro_batch_size_per_gpu": 1,
              "zero_optimization": {"stage": 3, "prefetch_bucket_size": 1e7, "param_persistence_threshold": 1e5,
                                    "max_live_parameters": 1e9, "cpu_offload": true}})",
                     {"cluster.node=dgx-h100", "cluster.gpus=8", "training.sequence=1024", "model=llama3-8b"})
                .offload.optimizer,
            schedules::Tier::host);
}

TEST(Recipes, LeaveABucketOfAutoToASetting) {
  const std::string script =
      "cat > ds.json <<EOT\n{\"zero_optimization\": {\"stage\": 2, \"reduce_bucket_size\": \"auto\"}}\nEOT\n"
      "torchrun --nproc_per_node 8 train.py --model_name_or_path meta-llama/Llama-3.1-8B --bf16 --max_length 2048 "
      "--deepspeed ds.json";
  EXPECT_THAT(complaint([&] { imported("hf-trainer", script); }), HasSubstr("or --set data_parallel.bucket"));
  const auto bucket = imported("hf-trainer", script, {"cluster.node=dgx-h100", "data_parallel.bucket=32 MiB"});
  EXPECT_EQ(schedules::bucket(bucket).value, 32 << 20);
}

// LLaMA-Factory's examples name them from the root of its repository.
TEST(Recipes, NameFilesFromAFolderAboveThem) {
  const std::filesystem::path folder = testing::TempDir() + "stepcast_factory";
  std::filesystem::create_directories(folder / "examples" / "deepspeed");
  std::ofstream(folder / "examples" / "deepspeed" / "ds_z2_config.json") << R"({"zero_optimization": {"stage": 2}})";
  Library library = configs();
  const std::vector<std::string> settings{"cluster.node=dgx-h100", "cluster.gpus=8"};
  const std::string text =
      kArguments + "stage: sft\nfinetuning_type: full\ndeepspeed: examples/deepspeed/ds_z2_config.json\n";
  const auto read = [&](const std::string& name) {
    return scenario_of_configuration(framework_named("hf-trainer", ""), text, name, settings, library).text;
  };
  EXPECT_THAT(read((folder / "examples" / "train_full" / "llama3.yaml").string()), HasSubstr("zero: 2"));
  EXPECT_THAT(complaint([&] { read("elsewhere.yaml"); }), HasSubstr("but no such file"));
}

TEST(Recipes, MayHaveJsonAsAFlagsValue) {
  EXPECT_TRUE(imported("hf-trainer",
                       "torchrun --nproc_per_node 8 train.py --model_name_or_path meta-llama/Llama-3.1-8B --bf16 "
                       "--max_length 2048 --gradient_checkpointing --gradient_checkpointing_kwargs "
                       "'{\"use_reentrant\": false}' --lr_scheduler_kwargs '{\"min_lr_rate\": 0.1}'")
                  .software.recompute_stops_early);
}

}  // namespace
}  // namespace stepcast::language
