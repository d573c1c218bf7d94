#pragma once

#include <string_view>
#include <vector>

#include "language/frameworks/framework.h"

namespace stepcast::language {

// Adapters (training.lora) as arguments of TRL's scripts, and of those that take after them, have them, for what PEFT
// and bitsandbytes are told: github.com/huggingface/trl v0.24, trl/trainer/model_config.py; and of LLaMA-Factory:
// github.com/hiyouga/LLaMA-Factory v0.9.3, src/llamafactory/hparams/finetuning_args.py and model_args.py. They are read
// alone: a script that trains none has no such arguments.

std::vector<FlagRow> adapter_rows();
/// What changes the answer and has no key.
std::vector<RefusedName> refused_adapters();
/// With blanks between them.
inline constexpr std::string_view kIgnoredOfAdapters =
    "--lora_alpha --lora_task_type --use_rslora --loraplus_* --pissa_* --bnb_4bit_quant_type --bnb_4bit_compute_dtype "
    "--bnb_4bit_quant_storage";
/// Whether the arguments are LLaMA-Factory's.
bool is_llama_factory(const Words& words);
/// Says training.lora of what the rows have read.
void read_adapters(Words& words);

}  // namespace stepcast::language
