// Adapters as fine-tuning scripts are told them.

#include "language/frameworks/tables/adapter_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "language/frameworks/emit.h"
#include "sim/input_error.h"
#include "tests/language/frameworks/configurations.h"
#include "tests/language/frameworks/published.h"

namespace stepcast::language {
namespace {

const std::vector<std::string> kLora{"training.lora.rank", "training.lora.target_modules", "training.lora.dropout",
                                     "training.lora.base_weights"};

std::string adapters_of(const std::string& arguments) {
  return said_of(imported("hf-trainer",
                          "accelerate launch --num_processes 8 sft.py --model_name_or_path "
                          "meta-llama/Llama-3.1-8B --max_length 4096 --bf16 true " +
                              arguments),
                 kLora);
}

TEST(AdapterFlags, OfTrlAreRead) {
  EXPECT_EQ(
      adapters_of("--use_peft --lora_r 32 --lora_alpha 16 --lora_dropout 0.1 --lora_target_modules q_proj k_proj"),
      "32 [q_proj, k_proj] 0.1 ");
  EXPECT_EQ(adapters_of("--use_peft"), "16 [q_proj, v_proj] 0.05 ");
  EXPECT_EQ(adapters_of("--use_peft --load_in_4bit --lora_target_modules all-linear --lora_dropout 0"),
            "16 [q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, down_proj]  nf4");
  EXPECT_EQ(adapters_of("--use_peft --load_in_4bit --use_bnb_nested_quant true"),
            "16 [q_proj, v_proj] 0.05 nf4-double-quant");
  EXPECT_EQ(adapters_of("--use_peft false --lora_r 32"), "");
  EXPECT_EQ(adapters_of("--use_peft --lora_target_modules query_key_value dense dense_h_to_4h"),
            adapters_of("--use_peft --lora_target_modules linear_qkv o_proj up_proj"));
}

// github.com/hiyouga/LLaMA-Factory v0.9.3, examples/train_lora/llama3_lora_sft.yaml and
// examples/train_qlora/llama3_lora_sft_otfq.yaml, but for what names data.
TEST(AdapterFlags, OfLlamaFactoryAreRead) {
  const auto read = [](const std::string& more) {
    return said_of(imported("hf-trainer",
                            "model_name_or_path: meta-llama/Meta-Llama-3-8B\n"
                            "stage: sft\ndo_train: true\nfinetuning_type: lora\ncutoff_len: 2048\n"
                            "per_device_train_batch_size: 1\ngradient_accumulation_steps: 8\nbf16: true\n" +
                                more,
                            {"cluster.node=dgx-h100", "cluster.gpus=1"}),
                   kLora);
  };
  EXPECT_EQ(read("lora_rank: 8\nlora_target: all\n"),
            "8 [q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, down_proj]  ");
  EXPECT_EQ(read("lora_target: q_proj,v_proj\nquantization_bit: 4\n"), "8 [q_proj, v_proj]  nf4-double-quant");
  const schedules::Scenario usual =
      imported("hf-trainer",
               "model_name_or_path: meta-llama/Meta-Llama-3-8B\nstage: sft\ntemplate: llama3\ncutoff_len: 2048\n"
               "per_device_train_batch_size: 1\nbf16: true\nmax_samples: 1000\n",
               {"cluster.node=dgx-h100", "cluster.gpus=1"});
  EXPECT_EQ(usual.training.lora.rank, 8);
}

std::string complaint_of(const std::string& arguments) {
  try {
    adapters_of(arguments);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(AdapterFlags, ThatDecideNothingAreAskedAbout) {
  EXPECT_THAT(complaint_of("--lora_r 32"), testing::HasSubstr("--use_peft true or false beside it"));
  EXPECT_THAT(complaint_of("--load_in_4bit true"), testing::HasSubstr("weights in 4 bits are not trained"));
  EXPECT_THAT(complaint_of("--use_peft --use_dora true"), testing::HasSubstr("DoRA is not modelled"));
}

TEST(AdapterFlags, OfMegatronBridgeAreReadAndWritten) {
  const std::vector<std::string> settings{"cluster.node=dgx-h100", "cluster.gpus=8", "model=llama3-8b"};
  const schedules::Scenario s = imported("megatron-bridge",
                                         "train: {micro_batch_size: 1, global_batch_size: 32}\n"
                                         "model: {seq_length: 4096}\n"
                                         "peft: {dim: 16, alpha: 32, dropout: 0.1, a2a_experimental: true,\n"
                                         "       target_modules: [linear_qkv, linear_proj]}\n",
                                         settings);
  EXPECT_EQ(said_of(s, kLora), "16 [linear_qkv, linear_proj] 0.1 ");
  EXPECT_TRUE(s.software.adapter_all_to_all);
  const schedules::Scenario usual =
      imported("megatron-bridge",
               "train: {micro_batch_size: 1, global_batch_size: 32}\nmodel: {seq_length: 4096}\n"
               "peft: {_target_: megatron.bridge.peft.lora.LoRA, alpha: 32}\n",
               settings);
  EXPECT_EQ(said_of(usual, kLora), "32 [linear_qkv, linear_proj, linear_fc1, linear_fc2]  ");
}

TEST(AdapterFlags, OfAllLayersAreThoseThatTheModelHas) {
  const auto targets = [](const std::string& model) {
    return said_of(
        imported("hf-trainer", "accelerate launch --num_processes 8 sft.py --model_name_or_path " + model +
                                   " --max_length 512 --bf16 true --use_peft --lora_target_modules all-linear"),
        {"training.lora.target_modules"});
  };
  EXPECT_EQ(targets("openai-community/gpt2"), "[q_proj, k_proj, v_proj, o_proj, up_proj, down_proj]");
  EXPECT_EQ(targets("Qwen/Qwen3-8B"), "[q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, down_proj]");
}

TEST(AdapterFlags, TheTypeOfFrozenWeightsIs16Bits) {
  EXPECT_EQ(adapters_of("--use_peft --dtype bfloat16"), "16 [q_proj, v_proj] 0.05 ");
  EXPECT_THAT(complaint_of("--use_peft --torch_dtype float32"), testing::HasSubstr("have 16 bits here"));
  EXPECT_THAT(complaint_of("--torch_dtype bfloat16"),
              testing::HasSubstr("parameters that are trained are kept in fp32"));
}

}  // namespace
}  // namespace stepcast::language
