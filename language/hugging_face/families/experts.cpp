// Decoders with experts and ordinary attention.

#include <array>
#include <string>

#include "language/hugging_face/decoder_fields.h"

namespace stepcast::language {
namespace {

using F = ConfigField;
using Word = std::string_view;

constexpr std::array kMixtralModels{Word("MixtralForCausalLM")};
constexpr std::array kMixtralFields{F{"vocab_size", "32000"},
                                    F{"hidden_size", "4096"},
                                    F{"intermediate_size", "14336"},
                                    F{"num_hidden_layers", "32"},
                                    F{"num_attention_heads", "32"},
                                    F{"num_key_value_heads", "8"},
                                    F{"head_dim", kNull},
                                    F{"hidden_act", "silu"},
                                    F{"sliding_window", kNull},
                                    F{"tie_word_embeddings", "false"},
                                    F{"num_local_experts", "8"},
                                    F{"num_experts_per_tok", "2"},
                                    F{"attention_dropout", "0.0"}};

constexpr std::array kQwen2MoeModels{Word("Qwen2MoeForCausalLM")};
constexpr std::array kQwen2MoeFields{F{"vocab_size", "151936"},
                                     F{"hidden_size", "2048"},
                                     F{"intermediate_size", "5632"},
                                     F{"num_hidden_layers", "24"},
                                     F{"num_attention_heads", "16"},
                                     F{"num_key_value_heads", "16"},
                                     F{"hidden_act", "silu"},
                                     F{"tie_word_embeddings", "false"},
                                     F{"use_sliding_window", "false"},
                                     F{"sliding_window", "4096"},
                                     F{"max_window_layers", "28"},
                                     F{"layer_types", kNull},
                                     F{"qkv_bias", "true"},
                                     F{"num_experts", "60"},
                                     F{"num_experts_per_tok", "4"},
                                     F{"moe_intermediate_size", "1408"},
                                     F{"shared_expert_intermediate_size", "5632"},
                                     F{"decoder_sparse_step", "1"},
                                     F{"mlp_only_layers", kNull},
                                     F{"attention_dropout", "0.0"}};

constexpr std::array kQwen3MoeModels{Word("Qwen3MoeForCausalLM")};
constexpr std::array kQwen3MoeFields{F{"vocab_size", "151936"},
                                     F{"hidden_size", "2048"},
                                     F{"intermediate_size", "6144"},
                                     F{"num_hidden_layers", "24"},
                                     F{"num_attention_heads", "32"},
                                     F{"num_key_value_heads", "4"},
                                     F{"head_dim", kNull},
                                     F{"hidden_act", "silu"},
                                     F{"attention_bias", "false"},
                                     F{"tie_word_embeddings", "false"},
                                     F{"use_sliding_window", "false"},
                                     F{"sliding_window", "4096"},
                                     F{"max_window_layers", kNull},
                                     F{"num_experts", "128"},
                                     F{"num_experts_per_tok", "8"},
                                     F{"moe_intermediate_size", "768"},
                                     F{"decoder_sparse_step", "1"},
                                     F{"mlp_only_layers", kNull},
                                     F{"qkv_bias", "false"},
                                     F{"use_qk_norm", "true"},
                                     F{"shared_expert_intermediate_size", "0"},
                                     F{"attention_dropout", "0.0"}};

constexpr std::array kQwen3VlMoeModels{Word("Qwen3VLMoeForConditionalGeneration")};
constexpr std::array kQwen3VlMoeFields{F{"vocab_size", "151936"},
                                       F{"hidden_size", "2048"},
                                       F{"intermediate_size", "5632"},
                                       F{"num_hidden_layers", "24"},
                                       F{"num_attention_heads", "16"},
                                       F{"num_key_value_heads", "16"},
                                       F{"head_dim", kNull},
                                       F{"hidden_act", "silu"},
                                       F{"attention_bias", "false"},
                                       F{"tie_word_embeddings", "false"},
                                       F{"num_experts", "60"},
                                       F{"num_experts_per_tok", "4"},
                                       F{"moe_intermediate_size", "1408"},
                                       F{"decoder_sparse_step", "1"},
                                       F{"mlp_only_layers", kNull},
                                       F{"attention_dropout", "0.0"}};

constexpr std::array kGptOssModels{Word("GptOssForCausalLM")};
constexpr std::array kGptOssFields{F{"vocab_size", "201088"},
                                   F{"hidden_size", "2880"},
                                   F{"intermediate_size", "2880"},
                                   F{"num_hidden_layers", "36"},
                                   F{"num_attention_heads", "64"},
                                   F{"num_key_value_heads", "8"},
                                   F{"head_dim", "64"},
                                   F{"hidden_act", "silu"},
                                   F{"attention_bias", "true"},
                                   F{"tie_word_embeddings", "false"},
                                   F{"sliding_window", "128"},
                                   F{"layer_types", kNull},
                                   F{"num_local_experts", "128"},
                                   F{"num_experts_per_tok", "4"},
                                   F{"attention_dropout", "0.0"}};
// experts_per_token says num_experts_per_tok again; the others clamp and scale inside the experts' activation.
constexpr std::array kGptOssIdle{Word("experts_per_token"), Word("initial_context_length"), Word("swiglu_alpha"),
                                 Word("swiglu_limit")};

constexpr std::array kMiniMaxM2Models{Word("MiniMaxM2ForCausalLM")};
constexpr std::array kMiniMaxM2Fields{
    F{"vocab_size", "200064"},      F{"hidden_size", "3072"},       F{"intermediate_size", "1536"},
    F{"num_hidden_layers", "62"},   F{"num_attention_heads", "48"}, F{"num_key_value_heads", "8"},
    F{"head_dim", "128"},           F{"hidden_act", "silu"},        F{"tie_word_embeddings", "false"},
    F{"num_local_experts", "256"},  F{"num_experts_per_tok", "8"},  F{"use_qk_norm", "true"},
    F{"qk_norm_type", "per_layer"}, F{"attn_type_list", kNull},     F{"shared_intermediate_size", "0"},
    F{"attention_dropout", "0.0"}};
// Neither the released weights nor transformers' class have layers of multi-token prediction.
constexpr std::array kMiniMaxM2Idle{Word("use_mtp"), Word("num_mtp_modules"), Word("mtp_transformer_layers"),
                                    Word("use_routing_bias")};

constexpr std::array kLlama4Models{Word("Llama4ForCausalLM")};
constexpr std::array kLlama4Fields{F{"vocab_size", "202048"},
                                   F{"hidden_size", "5120"},
                                   F{"intermediate_size", "8192"},
                                   F{"intermediate_size_mlp", "16384"},
                                   F{"num_hidden_layers", "48"},
                                   F{"num_attention_heads", "40"},
                                   F{"num_key_value_heads", "8"},
                                   F{"head_dim", "128"},
                                   F{"hidden_act", "silu"},
                                   F{"attention_bias", "false"},
                                   F{"tie_word_embeddings", "false"},
                                   F{"attention_chunk_size", "8192"},
                                   F{"layer_types", kNull},
                                   F{"no_rope_layers", kNull},
                                   F{"no_rope_layer_interval", "4"},
                                   F{"num_local_experts", "16"},
                                   F{"num_experts_per_tok", "1"},
                                   F{"interleave_moe_layer_step", "1"},
                                   F{"moe_layers", kNull},
                                   F{"attention_dropout", "0.0"}};
// The norm of queries and keys has no parameters; the others scale scores and where positions are absent.
constexpr std::array kLlama4Idle{Word("use_qk_norm"), Word("attn_scale"), Word("attn_temperature_tuning"),
                                 Word("floor_scale"), Word("for_llm_compressor")};

constexpr std::array kOlmoeModels{Word("OlmoeForCausalLM")};
constexpr std::array kOlmoeFields{
    F{"vocab_size", "50304"},     F{"hidden_size", "2048"},       F{"intermediate_size", "2048"},
    F{"num_hidden_layers", "16"}, F{"num_attention_heads", "16"}, F{"num_key_value_heads", kNull},
    F{"hidden_act", "silu"},      F{"attention_bias", "false"},   F{"tie_word_embeddings", "false"},
    F{"num_experts", "64"},       F{"num_experts_per_tok", "8"},  F{"attention_dropout", "0.0"}};
constexpr std::array kOlmoeIdle{Word("clip_qkv")};

constexpr std::array kGraniteMoeModels{Word("GraniteMoeForCausalLM")};
constexpr std::array kGraniteMoeFields{
    F{"vocab_size", "32000"},     F{"hidden_size", "4096"},       F{"intermediate_size", "11008"},
    F{"num_hidden_layers", "32"}, F{"num_attention_heads", "32"}, F{"num_key_value_heads", kNull},
    F{"hidden_act", "silu"},      F{"attention_bias", "false"},   F{"tie_word_embeddings", "false"},
    F{"num_local_experts", "8"},  F{"num_experts_per_tok", "2"},  F{"attention_dropout", "0.0"}};
constexpr std::array kGraniteMoeIdle{Word("attention_multiplier"), Word("embedding_multiplier"), Word("logits_scaling"),
                                     Word("residual_multiplier")};

constexpr std::array kDeepSeekModels{Word("DeepseekForCausalLM")};
constexpr std::array kDeepSeekFields{F{"vocab_size", "102400"},
                                     F{"hidden_size", "4096"},
                                     F{"intermediate_size", "11008"},
                                     F{"moe_intermediate_size", "1407"},
                                     F{"num_hidden_layers", "30"},
                                     F{"num_attention_heads", "32"},
                                     F{"num_key_value_heads", kNull},
                                     F{"hidden_act", "silu"},
                                     F{"attention_bias", "false"},
                                     F{"tie_word_embeddings", "false"},
                                     F{"n_routed_experts", kMustBeGiven},
                                     F{"n_shared_experts", kNull},
                                     F{"num_experts_per_tok", kMustBeGiven},
                                     F{"first_k_dense_replace", "0"},
                                     F{"moe_layer_freq", "1"},
                                     F{"attention_dropout", "0.0"}};

constexpr std::array kGlm4MoeModels{Word("Glm4MoeForCausalLM")};
constexpr std::array kGlm4MoeFields{
    F{"vocab_size", "151552"},          F{"hidden_size", "4096"},        F{"intermediate_size", "10944"},
    F{"moe_intermediate_size", "1408"}, F{"num_hidden_layers", "46"},    F{"num_attention_heads", "96"},
    F{"num_key_value_heads", "8"},      F{"hidden_act", "silu"},         F{"attention_bias", "false"},
    F{"tie_word_embeddings", "false"},  F{"n_routed_experts", "128"},    F{"n_shared_experts", "1"},
    F{"num_experts_per_tok", "8"},      F{"first_k_dense_replace", "1"}, F{"num_nextn_predict_layers", "0"},
    F{"use_qk_norm", "false"},          F{"attention_dropout", "0.0"}};

/// `layers` without experts: the first ones.
void say_dense_layers(Translation& t, std::string_view field) {
  std::int64_t first = 0;
  for (const Node& item : t.items(field))
    if (item.scalar != std::to_string(first++))
      t.refuse_at(item.place, field, "found layer " + found(item) + ", expected the first layers alone: [0, 1, ...]");
  if (first > 0) t.say("experts.dense_layers", std::to_string(first), field);
}

/// Experts as Llama's feed-forward blocks: `ffn` is the field of their inner width.
void say_experts(Translation& t, std::string_view count, std::string_view ffn) {
  say_llama(t);
  t.say("family", "moe");
  t.copy("experts.count", count);
  t.copy("experts.active", "num_experts_per_tok");
  t.copy("experts.ffn", ffn);
}

void say_mixtral(Translation& t) {
  say_experts(t, "num_local_experts", "intermediate_size");
  say_window(t, 0);
}

void say_qwen_experts(Translation& t) {
  say_experts(t, "num_experts", "moe_intermediate_size");
  if (t.whole("decoder_sparse_step") > 1) t.copy("experts.every", "decoder_sparse_step");
  say_dense_layers(t, "mlp_only_layers");
  if (t.knows("sliding_window")) say_window(t, 0);
}

void say_qwen2_moe(Translation& t) {
  say_qwen_experts(t);
  t.copy("experts.shared_ffn", "shared_expert_intermediate_size", 0);
  t.say("qkv_bias", t.flag("qkv_bias") ? "true" : "false", "qkv_bias");
}

/// The last three fields stand in files alone: the class has no other values.
void say_qwen3_moe(Translation& t) {
  say_qwen_experts(t);
  t.say("qk_norm", "true");
  if (!t.knows("use_qk_norm")) return;
  t.expect("use_qk_norm", "true", "queries and keys are always normed in this family");
  t.expect("qkv_bias", "false", "this family has none");
  t.expect("shared_expert_intermediate_size", "0", "this family has no shared experts");
}

/// Attention has biases where it says so, and experts and router always have.
void say_gpt_oss(Translation& t) {
  say_experts(t, "num_local_experts", "intermediate_size");
  say_biases(t, t.flag("attention_bias"), true, "attention_bias");
  t.one_of("hidden_act", {"silu", "swish"});
  t.say("activation", "clamped-swiglu", "hidden_act");
  say_window(t, 2);
}

void say_minimax_m2(Translation& t) {
  say_experts(t, "num_local_experts", "intermediate_size");
  t.copy("experts.shared_ffn", "shared_intermediate_size", 0);
  if (t.flag("use_qk_norm")) {
    t.expect("qk_norm_type", "per_layer", "norms of all heads together");
    t.say("qk_norm", "all-heads", "use_qk_norm");
  }
  for (const Node& item : t.items("attn_type_list"))
    if (item.scalar != "1")
      t.refuse_at(item.place, "attn_type_list",
                  "found " + found(item) + ", expected 1, softmax attention, of every layer");
}

void say_olmoe(Translation& t) {
  say_experts(t, "num_experts", "intermediate_size");
  t.say("qk_norm", "all-heads");
}

void say_granite_moe(Translation& t) { say_experts(t, "num_local_experts", "intermediate_size"); }

/// By the names of DeepSeek's fields, behind first layers without experts.
void say_shared_and_first(Translation& t) {
  say_experts(t, "n_routed_experts", "moe_intermediate_size");
  if (t.find("n_shared_experts") != nullptr)
    t.say("experts.shared_ffn", std::to_string(t.whole("n_shared_experts", 0) * t.whole("moe_intermediate_size")),
          "n_shared_experts");
  t.copy("experts.dense_layers", "first_k_dense_replace", 0);
}

void say_deepseek_moe(Translation& t) {
  say_shared_and_first(t);
  t.expect("moe_layer_freq", "1", "layers behind the first dense ones all have experts");
}

/// Attention's projection has no bias.
void say_glm4_moe(Translation& t) {
  say_shared_and_first(t);
  t.say("biases", "false");
  if (t.flag("attention_bias")) t.say("qkv_bias", "true", "attention_bias");
  if (t.flag("use_qk_norm")) t.say("qk_norm", "true", "use_qk_norm");
  t.copy("mtp_layers", "num_nextn_predict_layers", 0);
}

/// Every so-many-th layer has neither positions nor chunks.
void say_llama4(Translation& t) {
  say_experts(t, "num_local_experts", "intermediate_size");
  t.copy("ffn", "intermediate_size_mlp");
  t.copy("experts.shared_ffn", "intermediate_size");
  t.copy("experts.every", "interleave_moe_layer_step");
  const std::int64_t layers = t.whole("num_hidden_layers"), apart = t.whole("interleave_moe_layer_step");
  if (const std::span<const Node> given = t.items("moe_layers"); !given.empty()) {
    std::int64_t next = apart - 1;
    for (const Node& item : given) {
      if (item.scalar != std::to_string(next))
        t.refuse_at(item.place, "moe_layers",
                    "found layer " + found(item) + ", expected " + std::to_string(next) +
                        ", as interleave_moe_layer_step " + std::to_string(apart) +
                        " says: other orders of layers are not built");
      next += apart;
    }
    if (next < layers)
      t.refuse("moe_layers", "found a list without layer " + std::to_string(next) +
                                 ", which interleave_moe_layer_step " + std::to_string(apart) + " names");
  }
  const std::int64_t full = t.whole("no_rope_layer_interval");
  expect_each_layer(t, "no_rope_layers", [&](std::int64_t layer) { return (layer + 1) % full == 0 ? "0" : "1"; });
  expect_each_layer(t, "layer_types", [&](std::int64_t layer) {
    return (layer + 1) % full == 0 ? "full_attention" : "chunked_attention";
  });
  if (t.find("attention_chunk_size") == nullptr) return;
  t.copy("window", "attention_chunk_size");
  t.say("window_in_chunks", "true", "attention_chunk_size");
  t.copy("full_attention_every", "no_rope_layer_interval");
}

constexpr ModelType kExpertTypes[] = {
    {"mixtral", kMixtralModels, "MixtralConfig", kMixtralFields, {}, say_mixtral},
    {"qwen2_moe", kQwen2MoeModels, "Qwen2MoeConfig", kQwen2MoeFields, {}, say_qwen2_moe},
    {"qwen3_moe", kQwen3MoeModels, "Qwen3MoeConfig", kQwen3MoeFields, {}, say_qwen3_moe},
    {"qwen3_vl_moe_text", kQwen3VlMoeModels, "Qwen3VLMoeTextConfig", kQwen3VlMoeFields, {}, say_qwen3_moe},
    {"gpt_oss", kGptOssModels, "GptOssConfig", kGptOssFields, kGptOssIdle, say_gpt_oss},
    {"olmoe", kOlmoeModels, "OlmoeConfig", kOlmoeFields, kOlmoeIdle, say_olmoe},
    {"granitemoe", kGraniteMoeModels, "GraniteMoeConfig", kGraniteMoeFields, kGraniteMoeIdle, say_granite_moe},
    {"deepseek", kDeepSeekModels, "DeepseekConfig", kDeepSeekFields, {}, say_deepseek_moe},
    {"glm4_moe", kGlm4MoeModels, "Glm4MoeConfig", kGlm4MoeFields, {}, say_glm4_moe},
    {"minimax_m2", kMiniMaxM2Models, "MiniMaxM2Config", kMiniMaxM2Fields, kMiniMaxM2Idle, say_minimax_m2},
    {"llama4_text", kLlama4Models, "Llama4TextConfig", kLlama4Fields, kLlama4Idle, say_llama4},
};

}  // namespace

extern const std::span<const ModelType> expert_types;
const std::span<const ModelType> expert_types = kExpertTypes;

}  // namespace stepcast::language
