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

// Queries, keys and values always have biases: the class is Qwen 2's.
constexpr std::array kMiMoModels{Word("MiMoForCausalLM")};
constexpr std::array kMiMoFields{F{"vocab_size", "151936"},
                                 F{"hidden_size", "4096"},
                                 F{"intermediate_size", "22016"},
                                 F{"num_hidden_layers", "32"},
                                 F{"num_attention_heads", "32"},
                                 F{"num_key_value_heads", "32"},
                                 F{"head_dim", kNull},
                                 F{"hidden_act", "silu"},
                                 F{"tie_word_embeddings", "false"},
                                 F{"sliding_window", "4096"},
                                 F{"use_sliding_window", "false"},
                                 F{"max_window_layers", "28"},
                                 F{"layer_types", kNull},
                                 F{"num_nextn_predict_layers", "0"},
                                 F{"attention_dropout", "0.0"}};
constexpr std::array kMiMoIdle{Word("attention_bias")};

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

// Qwen2-VL and Qwen2.5-VL, whose text fields older files have at the top and newer ones in text_config.
constexpr std::array kQwen2VlModels{Word("Qwen2VLForConditionalGeneration")};
constexpr std::array kQwen25VlModels{Word("Qwen2_5_VLForConditionalGeneration")};
constexpr std::array kQwen2VlFields{
    F{"vocab_size", "152064"},    F{"hidden_size", "8192"},          F{"intermediate_size", "29568"},
    F{"num_hidden_layers", "80"}, F{"num_attention_heads", "64"},    F{"num_key_value_heads", "8"},
    F{"hidden_act", "silu"},      F{"tie_word_embeddings", "false"}, F{"use_sliding_window", "false"},
    F{"sliding_window", "4096"},  F{"max_window_layers", "80"},      F{"layer_types", kNull},
    F{"attention_dropout", "0.0"}};

constexpr std::array kQwen3VlModels{Word("Qwen3VLForConditionalGeneration")};
constexpr std::array kQwen3VlFields{
    F{"vocab_size", "151936"},     F{"hidden_size", "4096"},         F{"intermediate_size", "22016"},
    F{"num_hidden_layers", "32"},  F{"num_attention_heads", "32"},   F{"num_key_value_heads", "32"},
    F{"head_dim", "128"},          F{"hidden_act", "silu"},          F{"attention_bias", "false"},
    F{"attention_dropout", "0.0"}, F{"tie_word_embeddings", "false"}};

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
                                  F{"use_bidirectional_attention", "false"},
                                  F{"tie_word_embeddings", "true"},
                                  F{"attention_bias", "false"},
                                  F{"attention_dropout", "0.0"}};

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
                                   F{"use_bidirectional_attention", "false"},
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
                                   F{"attention_bias", "false"},   F{"use_bidirectional_attention", "false"},
                                   F{"attention_dropout", "0.0"}};
constexpr std::array kGemma3Idle{Word("attn_logit_softcapping"), Word("final_logit_softcapping"),
                                 Word("query_pre_attn_scalar"), Word("rope_local_base_freq")};

constexpr std::array kSmolLm3Models{Word("SmolLM3ForCausalLM")};
constexpr std::array kSmolLm3Fields{
    F{"vocab_size", "128256"},    F{"hidden_size", "2048"},         F{"intermediate_size", "11008"},
    F{"num_hidden_layers", "36"}, F{"num_attention_heads", "16"},   F{"num_key_value_heads", "4"},
    F{"hidden_act", "silu"},      F{"tie_word_embeddings", "true"}, F{"attention_bias", "false"},
    F{"mlp_bias", "false"},       F{"use_sliding_window", "false"}, F{"attention_dropout", "0.0"}};
// Layers without positions cost what those with rotary ones do, but for the turning, which no forecast counts.
constexpr std::array kSmolLm3Idle{Word("no_rope_layers"), Word("no_rope_layer_interval"), Word("max_window_layers"),
                                  Word("sliding_window"), Word("layer_types")};

constexpr std::array kMinistralModels{Word("MinistralForCausalLM")};
constexpr std::array kMinistralFields{
    F{"vocab_size", "32000"},     F{"hidden_size", "4096"},          F{"intermediate_size", "14336"},
    F{"num_hidden_layers", "32"}, F{"num_attention_heads", "32"},    F{"num_key_value_heads", "8"},
    F{"hidden_act", "silu"},      F{"tie_word_embeddings", "false"}, F{"head_dim", kNull},
    F{"sliding_window", "4096"},  F{"layer_types", kNull},           F{"attention_dropout", "0.0"}};

constexpr std::array kErnieModels{Word("Ernie4_5ForCausalLM")};
constexpr std::array kErnieFields{F{"vocab_size", "103424"},      F{"hidden_size", "1024"},
                                  F{"intermediate_size", "3072"}, F{"num_hidden_layers", "18"},
                                  F{"num_attention_heads", "16"}, F{"num_key_value_heads", "2"},
                                  F{"hidden_act", "silu"},        F{"tie_word_embeddings", "true"},
                                  F{"head_dim", "128"},           F{"use_bias", "false"}};

constexpr std::array kHeliumModels{Word("HeliumForCausalLM")};
constexpr std::array kHeliumFields{F{"vocab_size", "48000"},       F{"hidden_size", "2560"},
                                   F{"intermediate_size", "7040"}, F{"num_hidden_layers", "24"},
                                   F{"num_attention_heads", "20"}, F{"num_key_value_heads", "20"},
                                   F{"hidden_act", "silu"},        F{"tie_word_embeddings", "false"},
                                   F{"head_dim", "128"},           F{"attention_bias", "false"},
                                   F{"mlp_bias", "false"},         F{"attention_dropout", "0.0"}};

constexpr std::array kGlmModels{Word("GlmForCausalLM")};
constexpr std::array kGlmFields{
    F{"vocab_size", "151552"},    F{"hidden_size", "4096"},          F{"intermediate_size", "13696"},
    F{"num_hidden_layers", "40"}, F{"num_attention_heads", "32"},    F{"num_key_value_heads", "2"},
    F{"hidden_act", "silu"},      F{"tie_word_embeddings", "false"}, F{"head_dim", "128"},
    F{"attention_bias", "true"},  F{"attention_dropout", "0.0"}};

constexpr std::array kGlm4Models{Word("Glm4ForCausalLM")};

constexpr std::array kInternLmModels{Word("InternLMForCausalLM")};
constexpr std::array kInternLmFields{F{"vocab_size", "103168"},
                                     F{"hidden_size", "4096"},
                                     F{"intermediate_size", "11008"},
                                     F{"num_hidden_layers", "32"},
                                     F{"num_attention_heads", "32"},
                                     F{"hidden_act", "silu"},
                                     F{"bias", "true"},
                                     F{"tie_word_embeddings", "false"}};
constexpr std::array kInternLmIdle{Word("rotary"), Word("attn_implementation")};

constexpr std::array kOlmo3Models{Word("Olmo3ForCausalLM")};
constexpr std::array kOlmo3Fields{
    F{"vocab_size", "50304"},     F{"hidden_size", "4096"},          F{"intermediate_size", "11008"},
    F{"num_hidden_layers", "32"}, F{"num_attention_heads", "32"},    F{"num_key_value_heads", kNull},
    F{"hidden_act", "silu"},      F{"tie_word_embeddings", "false"}, F{"attention_bias", "false"},
    F{"sliding_window", "4096"},  F{"layer_types", kNull},           F{"attention_dropout", "0.0"}};

constexpr std::array kChatGlmModels{Word("ChatGLMModel"), Word("ChatGLMForConditionalGeneration")};
constexpr std::array kChatGlmFields{F{"num_layers", "28"},
                                    F{"hidden_size", "4096"},
                                    F{"num_attention_heads", "32"},
                                    F{"multi_query_attention", "false"},
                                    F{"multi_query_group_num", "1"},
                                    F{"kv_channels", "128"},
                                    F{"ffn_hidden_size", "13696"},
                                    F{"padded_vocab_size", "65024"},
                                    F{"tie_word_embeddings", "false"},
                                    F{"add_bias_linear", "false"},
                                    F{"add_qkv_bias", "false"},
                                    F{"rmsnorm", "true"},
                                    F{"post_layer_norm", "true"},
                                    F{"hidden_dropout", "0.0"},
                                    F{"attention_dropout", "0.0"},
                                    F{"pre_seq_len", kNull}};
constexpr std::array kChatGlmIdle{Word("apply_query_key_layer_scaling"),
                                  Word("apply_residual_connection_post_layernorm"),
                                  Word("attention_softmax_in_fp32"),
                                  Word("bias_dropout_fusion"),
                                  Word("classifier_dropout"),
                                  Word("fp32_residual_connection"),
                                  Word("interleaved_qkv"),
                                  Word("original_rope"),
                                  Word("prefix_projection"),
                                  Word("quantization_bit"),
                                  Word("rope_ratio"),
                                  Word("seq_length"),
                                  Word("vocab_size")};

void say_mistral(Translation& t) {
  say_llama(t);
  say_window(t, 0);
}

void say_qwen2(Translation& t) {
  say_llama(t);
  t.say("qkv_bias", "true");
  say_window(t, 0);
}

/// XiaomiMiMo/MiMo-7B-Base, configuration_mimo.py and modeling_mimo.py.
void say_mimo(Translation& t) {
  say_qwen2(t);
  t.copy("mtp_layers", "num_nextn_predict_layers", 0);
}

void say_qwen3(Translation& t) {
  say_llama(t);
  t.say("qk_norm", "true");
  say_window(t, 0);
}

/// No layer has a window.
void say_qwen3_vl(Translation& t) {
  say_llama(t);
  t.say("qk_norm", "true");
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

void say_olmo3(Translation& t) {
  say_olmo2(t);
  say_window(t, 4);
}

void say_smollm3(Translation& t) {
  say_llama(t);
  t.expect("use_sliding_window", "false", "windows of the layers without positions alone are not built");
}

void say_ernie(Translation& t) {
  say_llama_sizes(t);
  const bool biases = t.flag("use_bias");
  say_biases(t, biases, biases, "use_bias");
}

/// Of attention's biases the projection has none.
void say_projection_without_bias(Translation& t) {
  say_llama_sizes(t);
  if (t.flag("attention_bias")) t.say("qkv_bias", "true", "attention_bias");
  if (t.knows("mlp_bias") && t.flag("mlp_bias")) t.say("biases", "feed-forward", "mlp_bias");
  say_dropout(t, {"attention_dropout"});
}

void say_glm4(Translation& t) {
  say_projection_without_bias(t);
  t.say("post_norms", "true");
}

void say_internlm(Translation& t) {
  say_llama_sizes(t);
  if (t.flag("bias")) t.say("biases", "attention", "bias");
}

/// ChatGLM 2 and 3 and GLM-4, before transformers had them.
void say_chatglm(Translation& t) {
  t.say("family", "llama");
  t.copy("layers", "num_layers");
  t.copy("hidden", "hidden_size");
  t.copy("heads", "num_attention_heads");
  if (t.flag("multi_query_attention")) t.copy("kv_heads", "multi_query_group_num");
  t.find("multi_query_group_num");
  t.copy("head_width", "kv_channels");
  t.copy("ffn", "ffn_hidden_size");
  t.copy("vocab", "padded_vocab_size");
  say_tied_head(t);
  const bool biases = t.flag("add_bias_linear");
  if (biases) say_biases(t, true, true, "add_bias_linear");
  if (t.flag("add_qkv_bias") && !biases) t.say("qkv_bias", "true", "add_qkv_bias");
  if (!t.flag("post_layer_norm")) t.say("final_norm", "false", "post_layer_norm");
  t.expect("rmsnorm", "true", "LayerNorm is not built in this model type");
  t.expect("pre_seq_len", "null", "tuned prefixes are not built");
  say_dropout(t, {"hidden_dropout", "attention_dropout"});
}

// What the activation's other name says is the same.
constexpr std::array kGemmaIdle{Word("hidden_activation")};

void say_gemma(Translation& t) {
  say_llama(t);
  t.expect("use_bidirectional_attention", "false", "queries see no later tokens in this family");
}

void say_gemma2(Translation& t) {
  say_gemma(t);
  t.say("post_norms", "true");
  say_window(t, 2);
}

void say_gemma3(Translation& t) {
  say_gemma(t);
  t.say("post_norms", "true");
  t.say("qk_norm", "true");
  say_window(t, 6);
}

constexpr ModelType kLlamaTypes[] = {
    {"llama", kLlamaModels, "LlamaConfig", kLlamaFields, {}, say_llama},
    {"mistral", kMistralModels, "MistralConfig", kMistralFields, {}, say_mistral},
    {"qwen2", kQwen2Models, "Qwen2Config", kQwen2Fields, {}, say_qwen2},
    {"mimo", kMiMoModels, "MiMoConfig", kMiMoFields, kMiMoIdle, say_mimo},
    {"qwen3", kQwen3Models, "Qwen3Config", kQwen3Fields, {}, say_qwen3},
    {"qwen2_vl", kQwen2VlModels, "Qwen2VLConfig", kQwen2VlFields, {}, say_qwen2},
    {"qwen2_vl_text", kQwen2VlModels, "Qwen2VLTextConfig", kQwen2VlFields, {}, say_qwen2},
    {"qwen2_5_vl", kQwen25VlModels, "Qwen2_5_VLConfig", kQwen2VlFields, {}, say_qwen2},
    {"qwen2_5_vl_text", kQwen25VlModels, "Qwen2_5_VLTextConfig", kQwen2VlFields, {}, say_qwen2},
    {"qwen3_vl_text", kQwen3VlModels, "Qwen3VLTextConfig", kQwen3VlFields, {}, say_qwen3_vl},
    {"Yi", kYiModels, "YiConfig", kYiFields, {}, say_llama},
    {"internlm2", kInternLm2Models, "InternLM2Config", kInternLm2Fields, {}, say_internlm2},
    {"baichuan", kBaichuanModels, "BaichuanConfig", kBaichuanFields, kBaichuanIdle, say_baichuan},
    {"phi3", kPhi3Models, "Phi3Config", kPhi3Fields, {}, say_phi3},
    {"granite", kGraniteModels, "GraniteConfig", kLlamaFields, kGraniteIdle, say_llama},
    {"olmo2", kOlmo2Models, "Olmo2Config", kOlmo2Fields, {}, say_olmo2},
    {"olmo3", kOlmo3Models, "Olmo3Config", kOlmo3Fields, {}, say_olmo3},
    {"smollm3", kSmolLm3Models, "SmolLM3Config", kSmolLm3Fields, kSmolLm3Idle, say_smollm3},
    {"ministral", kMinistralModels, "MinistralConfig", kMinistralFields, {}, say_mistral},
    {"ernie4_5", kErnieModels, "Ernie4_5Config", kErnieFields, {}, say_ernie},
    {"helium", kHeliumModels, "HeliumConfig", kHeliumFields, {}, say_projection_without_bias},
    {"glm", kGlmModels, "GlmConfig", kGlmFields, {}, say_projection_without_bias},
    {"glm4", kGlm4Models, "Glm4Config", kGlmFields, {}, say_glm4},
    {"chatglm", kChatGlmModels, "ChatGLMConfig", kChatGlmFields, kChatGlmIdle, say_chatglm},
    {"internlm", kInternLmModels, "InternLMConfig", kInternLmFields, kInternLmIdle, say_internlm},
    {"gemma", kGemmaModels, "GemmaConfig", kGemmaFields, kGemmaIdle, say_gemma},
    {"gemma2", kGemma2Models, "Gemma2Config", kGemma2Fields, kGemma2Idle, say_gemma2},
    {"gemma3_text", kGemma3Models, "Gemma3TextConfig", kGemma3Fields, kGemma3Idle, say_gemma3},
};

}  // namespace

extern const std::span<const ModelType> llama_types;
const std::span<const ModelType> llama_types = kLlamaTypes;

}  // namespace stepcast::language
