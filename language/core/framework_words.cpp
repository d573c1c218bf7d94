#include "language/core/framework_words.h"

#include <algorithm>
#include <iterator>

#include "sim/in_quotes.h"

namespace stepcast::language {
namespace {

/// Of Transformers, Axolotl, DeepSpeed, Megatron-LM and torchtitan, where a key's own name is not near to it.
constexpr FrameworkWord kWords[] = {
    {"gradient_accumulation_steps", "training.global_batch", "micro-batch x data ranks x these steps"},
    {"train_batch_size", "training.global_batch"},
    {"global_batch_size", "training.global_batch"},
    {"batch_size", "training.global_batch"},
    {"micro_batch_size", "training.micro_batch"},
    {"local_batch_size", "training.micro_batch"},
    {"per_device_train_batch_size", "training.micro_batch"},
    {"train_micro_batch_size_per_gpu", "training.micro_batch"},
    {"sequence_len", "training.sequence"},
    {"sequence_length", "training.sequence"},
    {"seq_len", "training.sequence"},
    {"seq_length", "training.sequence"},
    {"max_seq_length", "training.sequence"},
    {"bf16", "training.precision", "bf16"},
    {"fp16", "training.precision", "fp16"},
    {"mixed_precision", "training.precision"},
    {"flash_attention", "training.attention", "flash or unfused"},
    {"base_model", "model"},
    {"model_name_or_path", "model"},
    {"gradient_checkpointing", "recompute", "none, selective or full"},
    {"activation_checkpointing", "recompute", "none, selective or full"},
    {"recompute_granularity", "recompute", "none, selective or full"},
    {"zero_optimization", "data_parallel.zero", "the stage"},
    {"zero_stage", "data_parallel.zero"},
    {"fsdp", "data_parallel.zero", "3 for a full shard"},
    {"tensor_parallel_size", "parallelism.tensor"},
    {"tensor_model_parallel_size", "parallelism.tensor"},
    {"pipeline_parallel_size", "parallelism.pipeline"},
    {"pipeline_model_parallel_size", "parallelism.pipeline"},
    {"context_parallel_size", "parallelism.context"},
    {"expert_model_parallel_size", "parallelism.expert"},
    {"data_parallel_size", "parallelism.data"},
    {"num_gpus", "cluster.gpus"},
    {"world_size", "cluster.gpus"},
    {"num_nodes", "cluster.nodes"},
    {"adapter", "training.lora.rank", "of LoRA"},
    {"lora_r", "training.lora.rank"},
    {"load_in_4bit", "training.lora.base_weights", "nf4"},
};

}  // namespace

std::span<const FrameworkWord> framework_words() { return kWords; }

const FrameworkWord* framework_word(std::string_view word) {
  const auto* known = std::ranges::find(kWords, word, &FrameworkWord::word);
  return known == std::end(kWords) ? nullptr : known;
}

std::string written_here(const FrameworkWord& word) {
  return in_quotes(word.key) + " for it" + (word.remark.empty() ? "" : ": " + std::string(word.remark));
}

}  // namespace stepcast::language
