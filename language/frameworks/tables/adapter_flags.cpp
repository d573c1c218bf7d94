#include "language/frameworks/tables/adapter_flags.h"

#include <algorithm>
#include <array>
#include <string>

#include "language/frameworks/tables/accelerate.h"

namespace stepcast::language {
namespace {

constexpr std::string_view kAllLinear = "all-linear";

/// What is told nothing of.
struct Defaults {
  std::string_view rank, dropout, targets;
  bool double_quant = false;
  std::string_view why;
};
constexpr Defaults kTrl{"16", "0.05", "q_proj, v_proj", false,
                        "assumed, the default of TRL and of PEFT for most models"};
constexpr Defaults kFactory{"8", "0", kAllLinear, true, "assumed, LLaMA-Factory's default"};

}  // namespace

std::vector<FlagRow> adapter_rows() {
  const std::vector<Spelling> yes_no{{"true", "true"}, {"false", "false"}};
  const std::vector<Spelling> types{{"bf16", "bfloat16"}, {"fp16", "float16"}, {"auto", "auto"}, {"fp32", "float32"}};
  return {
      {.name = "--use_peft",
       .key = "@adapters",
       .spellings = yes_no,
       .only_read = true,
       .remark = "training.lora.rank"},
      {.name = "--lora_r", .key = "@rank", .only_read = true, .remark = "training.lora.rank"},
      {.name = "--lora_dropout", .key = "@lora_dropout", .only_read = true, .remark = "training.lora.dropout"},
      {.name = "--lora_target_modules", .key = "@targets", .only_read = true, .remark = "training.lora.target_modules"},
      {.name = "--load_in_4bit",
       .key = "@four_bits",
       .spellings = yes_no,
       .only_read = true,
       .remark = "training.lora.base_weights"},
      {.name = "--use_bnb_nested_quant",
       .key = "@double_quant",
       .spellings = yes_no,
       .only_read = true,
       .remark = "training.lora.base_weights"},
      {.name = "--torch_dtype", .key = "@base_type", .spellings = types, .only_read = true, .remark = "training.lora"},
      {.name = "--dtype", .key = "@base_type", .spellings = types, .only_read = true, .remark = "training.lora"},
      {.name = "--finetuning_type",
       .key = "@finetuning",
       .spellings = {{"lora", "lora"}, {"full", "full"}},
       .only_read = true,
       .remark = "training.lora.rank"},
      {.name = "--stage", .key = "@stage", .only_read = true, .remark = "training.lora, whose default it has"},
      {.name = "--template", .key = "@template", .only_read = true, .remark = "training.lora, whose default it has"},
      {.name = "--lora_rank", .key = "@lora_rank", .only_read = true, .remark = "training.lora.rank"},
      {.name = "--lora_target", .key = "@targets", .only_read = true, .remark = "training.lora.target_modules"},
      {.name = "--disable_gradient_checkpointing",
       .key = "@no_recompute",
       .spellings = yes_no,
       .only_read = true,
       .remark = "recompute, which LLaMA-Factory turns on"},
      {.name = "--quantization_bit",
       .key = "@four_bits",
       .spellings = {{"true", "4"}},
       .only_read = true,
       .remark = "training.lora.base_weights"},
      {.name = "--double_quantization",
       .key = "@double_quant",
       .spellings = yes_no,
       .only_read = true,
       .remark = "training.lora.base_weights"},
  };
}

std::vector<RefusedName> refused_adapters() {
  return {
      {"--load_in_8bit", "changes the answer: weights in 8 bits of bitsandbytes are not modelled", "false"},
      {"--use_dora", "changes the answer: DoRA is not modelled", "false"},
      {"--additional_target", "changes the answer: layers trained whole beside adapters are not modelled", ""},
      {"--lora_modules_to_save", "changes the answer: layers trained whole beside adapters are not modelled", ""},
  };
}

namespace {

/// A linear layer by the name that a family of models has for it, where that is none of Llama's.
constexpr std::array<Spelling, 11> kOtherNames{{{"linear_qkv", "c_attn"},
                                                {"linear_qkv", "query_key_value"},
                                                {"linear_qkv", "qkv_proj"},
                                                {"o_proj", "out_proj"},
                                                {"o_proj", "dense"},
                                                {"up_proj", "c_fc"},
                                                {"up_proj", "fc1"},
                                                {"up_proj", "dense_h_to_4h"},
                                                {"down_proj", "fc2"},
                                                {"down_proj", "dense_4h_to_h"},
                                                {"o_proj, down_proj", "c_proj"}}};

/// Whether adapters are trained; weights in 4 bits and of 16 bits need them.
bool are_trained(const Words& words, bool factory) {
  const std::string finetuning = text_of(words, "@finetuning");
  if (factory ? finetuning.empty() || finetuning == "lora" : text_of(words, "@adapters") == "true") return true;
  if (text_of(words, "@four_bits") == "true")
    refuse(words, "@four_bits", "--use_peft true beside it: weights in 4 bits are not trained");
  if (!factory && !words.contains("@adapters") && words.contains("@rank"))
    refuse(words, "@rank", "--use_peft true or false beside it");
  // With mixed precision DeepSpeed and FSDP keep fp32 copies whatever the type is that weights are loaded in
  // (accelerate v1.10, Accelerator.prepare_model() and fsdp2_prepare_model()).
  const bool is_mixed = text_of(words, "@bf16") == "true" || text_of(words, "@fp16") == "true";
  const bool has_copies = is_mixed && (has_deepspeed(words) || has_fsdp(words));
  if (const std::string type = text_of(words, "@base_type"); !type.empty() && type != "fp32" && !has_copies)
    refuse(words, "@base_type",
           "float32: parameters that are trained are kept in fp32; where DeepSpeed or FSDP keep such copies, the whole "
           "command: accelerate launch --config_file FILE PROGRAM.py --config FILE");
  return false;
}

void say_targets(Words& words, const Defaults& usual) {
  const char* key = "training.lora.target_modules";
  const std::string targets = text_of(words, "@targets");
  // Of GPT-2 queries, keys and values are one layer, c_attn.
  const bool one_layer = &usual == &kTrl && text_of(words, "model").starts_with("gpt2");
  if (targets.empty()) return say(words, key, list_of_names(one_layer ? "linear_qkv" : usual.targets), usual.why);
  if (targets == "all-linear" || targets == "all") return say(words, key, list_of_names(kAllLinear), "@targets");
  std::string list = list_of_names(targets);
  for (const Spelling& other : kOtherNames)
    for (std::size_t at = list.find(other.theirs); at != list.npos; at = list.find(other.theirs, at)) {
      const std::size_t end = at + other.theirs.size();
      const bool whole = (list[at - 1] == '[' || list[at - 1] == ' ') && (list[end] == ']' || list[end] == ',');
      if (whole) list.replace(at, other.theirs.size(), other.ours);
      at += whole ? other.ours.size() : other.theirs.size();
    }
  say(words, key, list, "@targets");
}

}  // namespace

bool is_llama_factory(const Words& words) {
  return std::ranges::any_of(std::array{"@finetuning", "@stage", "@template", "@lora_rank", "@no_recompute"},
                             [&](const char* own) { return words.contains(own); });
}

void read_adapters(Words& words) {
  const bool factory = is_llama_factory(words);
  if (!are_trained(words, factory)) return;
  const Defaults& usual = factory ? kFactory : kTrl;
  const auto say_or = [&](const char* key, const char* own, std::string_view otherwise) {
    if (words.contains(own))
      say(words, key, text_of(words, own), own);
    else
      say(words, key, std::string(otherwise), usual.why);
  };
  say_or("training.lora.rank", factory ? "@lora_rank" : "@rank", usual.rank);
  say_or("training.lora.dropout", "@lora_dropout", usual.dropout);
  if (text_of(words, "@base_type") == "fp32")
    refuse(words, "@base_type", "bfloat16, float16 or auto: weights that adapters leave as they are have 16 bits here");
  say_targets(words, usual);
  if (text_of(words, "@four_bits") != "true") return;
  const bool twice = words.contains("@double_quant") ? text_of(words, "@double_quant") == "true" : usual.double_quant;
  say(words, "training.lora.base_weights", twice ? "nf4-double-quant" : "nf4", "@four_bits");
}

}  // namespace stepcast::language
