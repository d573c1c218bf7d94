#include "tests/language/frameworks/random_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <random>

namespace stepcast::language {
namespace {

class PlanDice {
 public:
  explicit PlanDice(std::uint64_t seed) : draw_(seed) {}
  template <class T>
  T of(std::initializer_list<T> values) {
    return values.begin()[draw_() % values.size()];
  }
  bool chance(unsigned percent) { return draw_() % 100 < percent; }

 private:
  std::mt19937_64 draw_;
};

struct PlanSizes {
  std::uint32_t tensor, context, pipeline, data, virtual_stages;
  std::uint32_t gpus() const { return tensor * context * pipeline * data; }
};

std::string decoder(PlanDice& dice, bool megatron, std::uint32_t layers) {
  const bool gpt = megatron && dice.chance(40);
  const int heads = dice.of({16, 32});
  std::string keys = fmt::format("family: {}, layers: {}, hidden: 2048, heads: {}, kv_heads: {}, ffn: {}, vocab: {}",
                                 gpt ? "gpt" : "llama", layers, heads, gpt ? heads : dice.of({8, 16}),
                                 dice.of({5632, 8192}), dice.of({32000, 50257, 128256}));
  if (dice.chance(20)) keys += fmt::format(", tied_head: {}", dice.chance(50));
  if (dice.chance(20)) keys += ", qkv_bias: true";
  if (!megatron) return keys;
  if (dice.chance(20)) keys += ", head_width: 64";
  if (dice.chance(20)) keys += ", qk_norm: true";
  if (dice.chance(20)) keys += fmt::format(", activation: {}", dice.of({"gelu", "swiglu"}));
  if (dice.chance(20)) keys += fmt::format(", biases: {}", dice.chance(50));
  if (dice.chance(20)) keys += fmt::format(", dropout: {}", dice.chance(50));
  if (dice.chance(20)) keys += fmt::format(", position_encoding: {}", dice.of({"learned", "rotary"}));
  return keys;
}

/// Some of them share each expert, where there are tensor ranks.
std::string expert_ranks(PlanDice& dice, const PlanSizes& size) {
  const std::uint32_t all = std::min(size.tensor * size.context * size.data, dice.of({4u, 8u})),
                      sharers = size.tensor > 1 ? dice.of({1u, 2u}) : 1;
  return fmt::format(", expert: {}, expert_tensor: {}", all / sharers, sharers);
}

std::string experts(PlanDice& dice, std::uint32_t layers) {
  std::string keys = fmt::format("family: moe, layers: {}, hidden: 2048, heads: 16, ffn: 4096, vocab: 32000", layers);
  keys += fmt::format(", experts: {{count: 16, active: {}, ffn: 1024, shared_ffn: {}, dense_layers: {}}}",
                      dice.of({1, 2, 4}), dice.of({0, 2048}), dice.of({0, 0, 1}));
  if (dice.chance(40))
    keys +=
        fmt::format(", latent: {{kv_rank: 512, query_rank: {}, head: 128, rotary: 64, value: 128}}", dice.of({0, 768}));
  else
    keys += ", kv_heads: 8";
  return keys;
}

/// `more`: so many micro-batches besides a multiple of the stages.
std::string batch(PlanDice& dice, const PlanSizes& sizes, const char* precision, std::uint32_t more = 0) {
  const std::uint32_t micro = dice.of({1u, 2u}), passes = sizes.pipeline * dice.of({1u, 2u}) + more;
  return fmt::format("training: {{global_batch: {}, micro_batch: {}, sequence: {}, {}}}\n", sizes.data * micro * passes,
                     micro, dice.of({2048, 4096}), precision);
}

std::string sized(const PlanSizes& sizes, const std::string& more) {
  return fmt::format("cluster: {{node: dgx-h100, gpus: {}}}\n", sizes.gpus()) +
         fmt::format("parallelism: {{tensor: {}, context: {}, pipeline: {}, data: {}{}}}\n", sizes.tensor,
                     sizes.context, sizes.pipeline, sizes.data, more);
}

PlanSizes sizes(PlanDice& dice, bool contexts) {
  return {dice.of({1u, 2u, 4u, 8u}), contexts ? dice.of({1u, 1u, 2u}) : 1, dice.of({1u, 1u, 2u, 4u}),
          dice.of({1u, 2u, 4u}), 1};
}

std::string megatron_plan(PlanDice& dice, bool flags) {
  PlanSizes size = sizes(dice, true);
  const bool moe = dice.chance(25), interleaved = size.pipeline > 1 && dice.chance(40);
  if (interleaved) size.virtual_stages = 2;
  const bool counted = size.pipeline > 1 && dice.chance(20),
             listed = !counted && size.pipeline == 2 && !interleaved && dice.chance(20);
  const std::uint32_t layers = 8 - (counted ? 2 : 0);
  std::string parallel;
  if (size.tensor > 1 && (moe || dice.chance(50))) parallel += ", sequence: true";
  if (moe) parallel += expert_ranks(dice, size);
  if (size.context > 1) parallel += fmt::format(", context_method: {}", dice.of({"ring", "all-gather", "ulysses"}));
  if (dice.chance(15)) parallel += ", order: [tensor, context, pipeline, data]";
  if (listed) parallel += ", layers_per_stage: [5, 3]";
  const char* precision =
      dice.of({"precision: bf16", "precision: bf16", "precision: fp16", "precision: fp32", "precision: fp8",
               "{precision: fp8, scaling: current, bf16_layers_at_start: 1}", "precision: mxfp8"});
  std::string training(precision);
  std::erase_if(training, [](char c) { return c == '{' || c == '}'; });
  if (size.context == 1 && training.ends_with("16") && dice.chance(15)) training += ", attention: unfused";
  if (dice.chance(10)) training += fmt::format(", optimizer: {}", dice.of({"sgd", "momentum"}));
  std::string yaml = sized(size, parallel) +
                     batch(dice, size, training.c_str(), interleaved && dice.chance(40) ? size.pipeline / 2 : 0);
  yaml += "model: {" + (moe ? experts(dice, layers) : decoder(dice, true, layers)) + "}\n";
  yaml += fmt::format("pipeline: {{schedule: {}, virtual_stages: {}{}}}\n", interleaved ? "interleaved-1f1b" : "1f1b",
                      size.virtual_stages, counted ? ", embedding_as_layer: true, head_as_layer: true" : "");
  const int zero = size.pipeline > 1 ? dice.of({0, 1}) : dice.of({0, 1, 2, 3});
  yaml += fmt::format("data_parallel: {{zero: {}", zero);
  if (zero > 0 && !moe && size.data == 4 && dice.chance(40)) yaml += fmt::format(", shard_group: {}", size.context * 2);
  if (dice.chance(30)) yaml += fmt::format(", overlap: {}", dice.chance(50));
  if (dice.chance(20)) yaml += ", bucket: 80 MB";
  if (!flags && dice.chance(30) && training.find("fp") == training.npos)
    yaml += fmt::format(", gradient_precision: {}", dice.of({"fp32", "bf16"}));
  yaml += "}\n";
  yaml += dice.of({"recompute: none\n", "recompute: full\n", "recompute: selective\n", "recompute: {every: 2}\n",
                   "recompute: {full_layers: 1}\n",
                   moe ? "recompute: {modules: [mlp, layernorm, moe]}\n" : "recompute: {modules: [mlp, core_attn]}\n"});
  if (dice.chance(10)) yaml += "offload: {optimizer: host}\n";
  if (dice.chance(30))
    yaml += fmt::format("software: {{fused_cross_entropy: {}, tensor_overlap: {}, vocabulary_multiple: {}{}}}\n",
                        dice.of({"false", "in_regions", "true"}),
                        parallel.starts_with(", sequence") ? dice.of({"none", "all"}) : "none", dice.of({64, 128}),
                        dice.chance(40) ? ", partition_activations: true" : "");
  return yaml;
}

std::string deepspeed_plan(PlanDice& dice) {
  PlanSizes size = sizes(dice, true);
  std::string yaml = sized(size, size.context > 1 ? ", context_method: ulysses" : "");
  std::string training = dice.of({"precision: bf16", "precision: bf16", "precision: fp16", "precision: fp32"});
  if (dice.chance(10)) training += fmt::format(", optimizer: {}", dice.of({"sgd", "momentum"}));
  yaml += batch(dice, size, training.c_str());
  yaml += "model: {" + decoder(dice, true, 8) + "}\n";
  yaml += dice.chance(30) ? "software: {base: huggingface-deepspeed, partition_activations: true}\n"
                          : "software: huggingface-deepspeed\n";
  const int zero = size.pipeline > 1 ? dice.of({0, 1}) : dice.of({0, 1, 2, 3});
  yaml += fmt::format("data_parallel: {{zero: {}", zero);
  if (dice.chance(30)) yaml += fmt::format(", overlap: {}", dice.chance(50));
  if (dice.chance(20)) yaml += ", bucket: 400 MB";
  if (dice.chance(20)) yaml += fmt::format(", gradient_precision: {}", dice.of({"fp32", "bf16"}));
  if (zero == 3 && size.context == 1 && size.data == 4 && dice.chance(50)) yaml += ", shard_group: 2";
  yaml += "}\n";
  yaml += dice.of({"recompute: none\n", "recompute: full\n", "recompute: {every: 2}\n", "name: nothing\n"});
  if (zero > 0 && dice.chance(30)) yaml += "offload: {optimizer: host}\n";
  return yaml;
}

std::string hf_plan(PlanDice& dice) {
  const char* software = dice.of({"huggingface-deepspeed", "pytorch-fsdp1", "pytorch-fsdp2", "pytorch-ddp"});
  const bool ddp = software == std::string("pytorch-ddp"),
             fsdp = std::string_view(software).starts_with("pytorch-fsdp");
  PlanSizes size{ddp || fsdp ? 1 : dice.of({1u, 2u}), 1, 1, dice.of({2u, 4u, 8u, 16u}), 1};
  std::string training = dice.of({"precision: bf16", "precision: bf16", "precision: fp16", "precision: fp32"});
  const bool low = training.ends_with("16");
  const char* optimizer = ddp || fsdp ? dice.of({"sgd", "lion", "adafactor"}) : "sgd";  // of DeepSpeed's own
  if (dice.chance(10)) training += fmt::format(", optimizer: {}", optimizer);
  if (dice.chance(10)) training += ", attention: unfused";
  std::string yaml = sized(size, "") + batch(dice, size, training.c_str());
  yaml += dice.chance(50) ? fmt::format("model: {}\n", dice.of({"llama3-8b", "gpt2-1.5b", "falcon-7b"}))
                          : "model: {" + decoder(dice, true, 8) + "}\n";
  yaml += fmt::format("software: {}\n", software);
  const int zero = ddp ? 0 : fsdp ? dice.of({0, 2, 3}) : dice.of({0, 1, 2, 3});
  yaml += fmt::format("data_parallel: {{zero: {}", zero);
  if (fsdp && low) yaml += ", gradient_precision: " + training.substr(11, 4);
  if (ddp && dice.chance(30)) yaml += ", bucket: 50 MiB";
  if (!ddp && !fsdp && dice.chance(30)) yaml += ", bucket: 400 MB";
  yaml += "}\n";
  yaml += dice.of({"recompute: none\n", "recompute: full\n"});
  if (zero == 3 && fsdp && dice.chance(30)) yaml += "offload: {optimizer: host, parameters: host}\n";
  if (zero > 0 && !fsdp && dice.chance(30)) yaml += "offload: {optimizer: host}\n";
  return yaml;
}

std::string torchtitan_plan(PlanDice& dice) {
  const char* model = dice.of({"llama3-8b", "llama3-8b", "llama3-70b", "llama3.1-405b", "qwen3-4b", "qwen3-32b",
                               "qwen3-30b-a3b", "deepseek-v2-lite", "deepseek-v3"});
  const bool moe = model == std::string("qwen3-30b-a3b") || std::string_view(model).starts_with("deepseek");
  PlanSizes size = sizes(dice, !moe);
  if (std::string_view(model).starts_with("qwen")) size.pipeline = 1;
  const char* schedule = "1f1b";
  if (size.pipeline > 1) schedule = dice.of({"1f1b", "gpipe", "interleaved-1f1b", "zb-v"});
  std::string parallel = size.tensor > 1 ? ", sequence: true" : "";
  if (moe) parallel += fmt::format(", expert: {}", std::min(size.tensor * size.data, 8u));
  if (size.context > 1) parallel += fmt::format(", context_method: {}", dice.of({"ring", "all-gather"}));
  std::string yaml = sized(size, parallel);
  const bool low = dice.chance(25);
  std::string training = low ? dice.of({"precision: fp8, scaling: current", "precision: mxfp8",
                                        "precision: fp8, scaling: current, eight_bit_parameters: true",
                                        "precision: fp8, scaling: rowwise"})
                             : dice.of({"precision: bf16", "precision: bf16", "precision: fp32"});
  yaml += batch(dice, size, training.c_str()) + fmt::format("model: {}\n", model);
  const char* stack = dice.of({"torchtitan", low ? "torchtitan-float8" : "torchtitan-compiled"});
  yaml += fmt::format("software: {{base: {}, tensor_overlap: {}}}\n", stack, dice.of({"none", "all"}));
  yaml += fmt::format("pipeline: {{schedule: {}, virtual_stages: {}}}\n", schedule,
                      schedule == std::string("interleaved-1f1b") ? 2 : 1);
  const std::uint32_t copies = size.data * size.context;
  yaml += fmt::format("data_parallel: {{zero: {}", copies == 1        ? 0
                                                   : size.context > 1 ? dice.of({2, 3})
                                                                      : dice.of({0, 2, 3}));
  if (size.data == 4 && size.context == 1 && dice.chance(40)) yaml += ", shard_group: 2";
  yaml += "}\n";
  yaml += dice.of({"recompute: none\n", "recompute: full\n", "recompute: by-operator\n"});
  return yaml;
}

std::string nanotron_plan(PlanDice& dice) {
  PlanSizes size = sizes(dice, true);
  std::string parallel = size.tensor > 1 && dice.chance(60) ? ", sequence: true" : "";
  if (size.context > 1) parallel += fmt::format(", context_method: {}", dice.of({"ring", "all-gather"}));
  std::string yaml = sized(size, parallel);
  yaml += batch(dice, size, dice.of({"precision: bf16", "precision: bf16", "precision: fp16", "precision: fp32"}));
  yaml += "model: {" + decoder(dice, false, 8) + "}\n";
  yaml += fmt::format(
      "software: {{base: nanotron, tensor_overlap: {}, gather_inputs_again: {}, vocabulary_multiple: {}}}\n",
      dice.of({"none", "backward"}), dice.of({"true", "false"}), dice.of({1, 64}));
  yaml += fmt::format("pipeline: {{schedule: {}}}\n", size.pipeline > 1 ? dice.of({"1f1b", "gpipe"}) : "1f1b");
  yaml += fmt::format("data_parallel: {{zero: {}", dice.of({0, 1}));
  if (dice.chance(20)) yaml += ", bucket: 100 MiB";
  yaml += "}\n";
  yaml += dice.of({"recompute: none\n", "recompute: full\n"});
  return yaml;
}

std::string nemo_plan(PlanDice& dice) {
  PlanSizes size = sizes(dice, true);
  const bool moe = dice.chance(25), interleaved = size.pipeline > 1 && dice.chance(40);
  if (interleaved) size.virtual_stages = 2;
  const bool counted = size.pipeline > 1 && dice.chance(20);
  const std::uint32_t layers = 8 - (counted ? 2 : 0);
  std::string parallel;
  if (size.tensor > 1 && (moe || dice.chance(50))) parallel += ", sequence: true";
  if (moe) parallel += expert_ranks(dice, size);
  if (size.context > 1) parallel += fmt::format(", context_method: {}", dice.of({"ring", "all-gather", "ulysses"}));
  std::string training = dice.of({"precision: bf16", "precision: bf16", "precision: fp16", "precision: fp32",
                                  "precision: fp8", "precision: fp8, eight_bit_parameters: true"});
  if (size.context == 1 && training.ends_with("16") && dice.chance(15)) training += ", attention: unfused";
  const bool sgd = dice.chance(10);
  if (sgd) training += fmt::format(", optimizer: {}", dice.of({"sgd", "momentum"}));
  std::string model = moe ? experts(dice, layers) : decoder(dice, true, layers);
  if (const std::size_t latent = model.find(", latent"); latent != model.npos)
    model = model.substr(0, latent) + ", kv_heads: 8";
  std::string yaml = sized(size, parallel) + batch(dice, size, training.c_str()) + "model: {" + model + "}\n";
  yaml += fmt::format("pipeline: {{schedule: {}, virtual_stages: {}{}}}\n", interleaved ? "interleaved-1f1b" : "1f1b",
                      size.virtual_stages, counted ? ", embedding_as_layer: true, head_as_layer: true" : "");
  const int zero = sgd ? 0 : size.pipeline > 1 ? dice.of({0, 1}) : dice.of({0, 1, 2, 3});
  yaml += fmt::format("data_parallel: {{zero: {}", zero);
  if (dice.chance(30)) yaml += fmt::format(", overlap: {}", dice.chance(50));
  if (zero == 1 && dice.chance(30)) yaml += ", bucket: 220 MiB";
  if (dice.chance(30)) yaml += fmt::format(", gradient_precision: {}", dice.of({"fp32", "bf16"}));
  yaml += "}\n";
  yaml += dice.of({"recompute: none\n", "recompute: full\n", "recompute: selective\n", "recompute: {every: 2}\n",
                   "name: nothing\n"});
  yaml += fmt::format("software: {{base: nemo-launcher, tensor_overlap: {}, pipeline_overlap: {}}}\n",
                      parallel.starts_with(", sequence") ? dice.of({"none", "all"}) : "none",
                      dice.of({"false", "interleaved"}));
  return yaml;
}

}  // namespace

std::string random_plan(std::string_view framework, std::uint64_t seed) {
  PlanDice dice(seed);
  if (framework == "megatron") return megatron_plan(dice, true);
  if (framework == "megatron-bridge") return megatron_plan(dice, false);
  if (framework == "hf-trainer") return hf_plan(dice);
  if (framework == "nemo") return nemo_plan(dice);
  if (framework == "deepspeed") return deepspeed_plan(dice);
  return framework == "torchtitan" ? torchtitan_plan(dice) : nanotron_plan(dice);
}

}  // namespace stepcast::language
