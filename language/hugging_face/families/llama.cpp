// Decoders with RMSNorm, rotary positions and a gated feed-forward block.

#include <array>

#include "language/hugging_face/decoder_fields.h"

namespace stepcast::language {
namespace {

using F = ConfigField;
using Word = std::string_view;

constexpr std::array kLlamaModels{Word("LlamaForCausalLM"), Word("LLaMAForCausalLM"), Word("YiForCausalLM")};
constexpr std::array kLlamaFields{
    F{"vocab_size", "32000"},     F{"hidden_size", "4096"},       F{"intermediate_size", "11008"},
    F{"num_hidden_layers", "32"}, F{"num_attention_heads", "32"}, F{"num_key_value_heads", kNull},
    F{"head_dim", kNull},         F{"hidden_act", "silu"},        F{"tie_word_embeddings", "false"},
    F{"attention_bias", "false"}, F{"mlp_bias", "false"},         F{"attention_dropout", "0.0"}};

constexpr std::array kYiModels{Word("YiForCausalLM")};
constexpr std::array kYiFields{
    F{"vocab_size", "64000"},     F{"hidden_size", "4096"},          F{"intermediate_size", "11008"},
    F{"num_hidden_layers", "32"}, F{"num_attention_heads", "32"},    F{"num_key_value_heads", "4"},
    F{"hidden_act", "silu"},      F{"tie_word_embeddings", "false"}, F{"attention_dropout", "0.0"}};

constexpr std::array kMistralModels{Word("MistralForCausalLM")};
constexpr std::array kMistralFields{F{"vocab_size", "32000"},
                                    F{"hidden_size", "4096"},
                                    F{"intermediate_size", "14336"},
                                    F{"num_hidden_layers", "32"},
                                    F{"num_attention_heads", "32"},
                                    F{"num_key_value_heads", "8"},
                                    F{"head_dim", kNull},
                                    F{"hidden_act", "silu"},
                                    F{"sliding_window", "4096"},
                                    F{"tie_word_embeddings", "false"},
                                    F{"attention_dropout", "0.0"}};

constexpr std::array kQwen2Models{Word("Qwen2ForCausalLM")};
constexpr std::array kQwen2Fields{
    F{"vocab_size", "151936"},    F{"hidden_size", "4096"},          F{"intermediate_size", "22016"},
    F{"num_hidden_layers", "32"}, F{"num_attention_heads", "32"},    F{"num_key_value_heads", "32"},
    F{"hidden_act", "silu"},      F{"tie_word_embeddings", "false"}, F{"use_sliding_window", "false"},
    F{"sliding_window", "4096"},  F{"max_window_layers", "28"},      F{"layer_types", kNull},
    F{"attention_dropout", "0.0"}};

constexpr std::array kQwen3Models{Word("Qwen3ForCausalLM")};
constexpr std::array kQwen3Fields{F{"vocab_size", "151936"},
                                  F{"hidden_size", "4096"},
                                  F{"intermediate_size", "22016"},
                                  F{"num_hidden_layers", "32"},
                                  F{"num_attention_heads", "32"},
                                  F{"num_key_value_heads", "32"},
                                  F{"head_dim", "128"},
                                  F{"hidden_act", "silu"},
                                  F{"attention_bias", "false"},
                                  F{"tie_word_embeddings", "false"},
                                  F{"use_sliding_window", "false"},
                                  F{"sliding_window", "4096"},
                                  F{"max_window_layers", "28"},
                                  F{"layer_types", kNull},
                                  F{"attention_dropout", "0.0"}};

constexpr std::array kInternLm2Models{Word("InternLM2ForCausalLM")};
constexpr std::array kInternLm2Fields{F{"vocab_size", "103168"},         F{"hidden_size", "4096"},
                                      F{"intermediate_size", "11008"},   F{"num_hidden_layers", "32"},
                                      F{"num_attention_heads", "32"},    F{"num_key_value_heads", kNull},
                                      F{"hidden_act", "silu"},           F{"bias", "true"},
                                      F{"tie_word_embeddings", "false"}, F{"attention_dropout", "0.0"}};

constexpr std::array kBaichuanModels{Word("BaichuanForCausalLM"), Word("BaiChuanForCausalLM")};
constexpr std::array kBaichuanFields{
    F{"vocab_size", kMustBeGiven},        F{"hidden_size", kMustBeGiven},         F{"intermediate_size", kMustBeGiven},
    F{"num_hidden_layers", kMustBeGiven}, F{"num_attention_heads", kMustBeGiven}, F{"hidden_act", "silu"},
    F{"tie_word_embeddings", "false"},    F{"attention_dropout", "0.0"},          F{"max_position_embeddings", kNull}};
constexpr std::array kBaichuanIdle{Word("z_loss_weight"), Word("_from_model_config")};

constexpr std::array kPhi3Models{Word("Phi3ForCausalLM")};
constexpr std::array kPhi3Fields{
    F{"vocab_size", "32064"},     F{"hidden_size", "3072"},       F{"intermediate_size", "8192"},
    F{"num_hidden_layers", "32"}, F{"num_attention_heads", "32"}, F{"num_key_value_heads", kNull},
    F{"hidden_act", "silu"},      F{"sliding_window", kNull},     F{"tie_word_embeddings", "false"},
    F{"attention_bias", "false"}, F{"resid_pdrop", "0.0"},        F{"embd_pdrop", "0.0"},
    F{"attention_dropout", "0.0"}};

constexpr std::array kGraniteModels{Word("GraniteForCausalLM")};
constexpr std::array kGraniteIdle{Word("attention_multiplier"), Word("embedding_multiplier"), Word("logits_scaling"),
                                  Word("residual_multiplier")};

constexpr std::array kOlmo2Models{Word("Olmo2ForCausalLM")};
constexpr std::array kOlmo2Fields{F{"vocab_size", "50304"},        F{"hidden_size", "4096"},
                                  F{"intermediate_size", "11008"}, F{"num_hidden_layers", "32"},
                                  F{"num_attention_heads", "32"},  F{"num_key_value_heads", kNull},
                                  F{"hidden_act", "silu"},         F{"tie_word_embeddings", "false"},
                                  F{"attention_bias", "false"},    F{"attention_dropout", "0.0"}};

constexpr std::array kGemmaModels{Word("GemmaForCausalLM")};
constexpr std::array kGemmaFields{F{"vocab_size", "256000"},
                                  F{"hidden_size", "3072"},
                                  F{"intermediate_size", "24576"},
                                  F{"num_hidden_layers", "28"},
                                  F{"num_attention_heads", "16"},
                                  F{"num_key_value_heads", "16"},
                                  F{"head_dim", "256"},
                                  F{"hidden_act", "gelu_pytorch_tanh"},
                                  F{"tie_word_embeddings", "true"},
                                  F{"attention_bias", "false"},
                                  F{"attention_dropout", "0.0"}};
constexpr std::array kGemmaIdle{Word("hidden_activation")};

constexpr std::array kGemma2Models{Word("Gemma2ForCausalLM")};
constexpr std::array kGemma2Fields{F{"vocab_size", "256000"},
                                   F{"hidden_size", "2304"},
                                   F{"intermediate_size", "9216"},
                                   F{"num_hidden_layers", "26"},
                                   F{"num_attention_heads", "8"},
                                   F{"num_key_value_heads", "4"},
                                   F{"head_dim", "256"},
                                   F{"hidden_activation", "gelu_pytorch_tanh"},
                                   F{"sliding_window", "4096"},
                                   F{"layer_types", kNull},
                                   F{"tie_word_embeddings", "true"},
                                   F{"attention_bias", "false"},
                                   F{"attention_dropout", "0.0"}};
// What squashes scores and logits, which fused kernels do in passing, and the scale of scores.
constexpr std::array kGemma2Idle{Word("attn_logit_softcapping"), Word("final_logit_softcapping"),
                                 Word("query_pre_attn_scalar"), Word("hidden_act"), Word("sliding_window_size")};

constexpr std::array kGemma3Models{Word("Gemma3ForCausalLM")};
constexpr std::array kGemma3Fields{F{"vocab_size", "262208"},      F{"hidden_size", "2304"},
                                   F{"intermediate_size", "9216"}, F{"num_hidden_layers", "26"},
                                   F{"num_attention_heads", "8"},  F{"num_key_value_heads", "4"},
                                   F{"head_dim", "256"},           F{"hidden_activation", "gelu_pytorch_tanh"},
                                   F{"sliding_window", "4096"},    F{"sliding_window_pattern", "6"},
                                   F{"layer_types", kNull},        F{"tie_word_embeddings", "true"},
                                   F{"attention_bias", "false"},   F{"attention_dropout", "0.0"}};
constexpr std::array kGemma3Idle{Word("attn_logit_softcapping"), Word("final_logit_softcapping"),
                                 Word("query_pre_attn_scalar"), Word("rope_local_base_freq"),
                                 Word("use_bidirectional_attention")};

void say_mistral(Translation& t) {
  say_llama(t);
  say_window(t, 0);
}

void say_qwen2(Translation& t) {
  say_llama(t);
  t.say("qkv_bias", "true");
  say_window(t, 0);
}

void say_qwen3(Translation& t) {
  say_llama(t);
  t.say("qk_norm", "true");
  say_window(t, 0);
}

void say_internlm2(Translation& t) {
  say_llama(t);
  if (t.flag("bias")) t.say("biases", "attention", "bias");
}

/// The larger models' class has no max_position_embeddings, because their positions are ALiBi.
void say_baichuan(Translation& t) {
  say_llama(t);
  if (t.find("max_position_embeddings") == nullptr) t.say("position_encoding", "alibi");
}

void say_phi3(Translation& t) {
  say_llama(t);
  say_dropout(t, {"resid_pdrop", "embd_pdrop", "attention_dropout"});
  say_window(t, 0);
}

void say_olmo2(Translation& t) {
  say_llama(t);
  t.say("qk_norm", "all-heads");
}

void say_gemma2(Translation& t) {
  say_llama(t);
  t.say("post_norms", "true");
  say_window(t, 2);
}

void say_gemma3(Translation& t) {
  say_llama(t);
  t.say("post_norms", "true");
  t.say("qk_norm", "true");
  say_window(t, 6);
}

constexpr ModelType kTypes[] = {
    {"llama", kLlamaModels, "LlamaConfig", kLlamaFields, {}, say_llama},
    {"mistral", kMistralModels, "MistralConfig", kMistralFields, {}, say_mistral},
    {"qwen2", kQwen2Models, "Qwen2Config", kQwen2Fields, {}, say_qwen2},
    {"qwen3", kQwen3Models, "Qwen3Config", kQwen3Fields, {}, say_qwen3},
    {"Yi", kYiModels, "YiConfig", kYiFields, {}, say_llama},
    {"internlm2", kInternLm2Models, "InternLM2Config", kInternLm2Fields, {}, say_internlm2},
    {"baichuan", kBaichuanModels, "BaichuanConfig", kBaichuanFields, kBaichuanIdle, say_baichuan},
    {"phi3", kPhi3Models, "Phi3Config", kPhi3Fields, {}, say_phi3},
    {"granite", kGraniteModels, "GraniteConfig", kLlamaFields, kGraniteIdle, say_llama},
    {"olmo2", kOlmo2Models, "Olmo2Config", kOlmo2Fields, {}, say_olmo2},
    {"gemma", kGemmaModels, "GemmaConfig", kGemmaFields, kGemmaIdle, say_llama},
    {"gemma2", kGemma2Models, "Gemma2Config", kGemma2Fields, kGemma2Idle, say_gemma2},
    {"gemma3_text", kGemma3Models, "Gemma3TextConfig", kGemma3Fields, kGemma3Idle, say_gemma3},
};

}  // namespace

extern const std::span<const ModelType> llama_types;
const std::span<const ModelType> llama_types = kTypes;

}  // namespace stepcast::language
