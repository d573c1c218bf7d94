// Decoders with LayerNorm.

#include <array>
#include <string>

#include "language/hugging_face/decoder_fields.h"

namespace stepcast::language {
namespace {

using F = ConfigField;
using Word = std::string_view;

constexpr std::array kGpt2Models{Word("GPT2LMHeadModel")};
constexpr std::array kGpt2Fields{F{"vocab_size", "50257"},
                                 F{"n_positions", "1024"},
                                 F{"n_embd", "768"},
                                 F{"n_layer", "12"},
                                 F{"n_head", "12"},
                                 F{"n_inner", kNull},
                                 F{"activation_function", "gelu_new"},
                                 F{"resid_pdrop", "0.1"},
                                 F{"embd_pdrop", "0.1"},
                                 F{"attn_pdrop", "0.1"},
                                 F{"tie_word_embeddings", "true"}};
constexpr std::array kGpt2Idle{Word("n_ctx"),
                               Word("scale_attn_weights"),
                               Word("scale_attn_by_inverse_layer_idx"),
                               Word("reorder_and_upcast_attn"),
                               Word("summary_activation"),
                               Word("summary_first_dropout"),
                               Word("summary_proj_to_labels"),
                               Word("summary_type"),
                               Word("summary_use_proj"),
                               Word("scale_attention_softmax_in_fp32"),
                               Word("attention_softmax_in_fp32"),
                               Word("inference_runner"),
                               Word("max_batch_size"),
                               Word("max_sequence_length"),
                               Word("pad_key_length"),
                               Word("pre_allocate_kv_cache"),
                               Word("validate_runner_input"),
                               Word("rotary"),
                               Word("tokenizer_class")};

constexpr std::array kBigCodeModels{Word("GPTBigCodeForCausalLM")};
constexpr std::array kBigCodeFields{F{"vocab_size", "50257"},
                                    F{"n_positions", "1024"},
                                    F{"n_embd", "768"},
                                    F{"n_layer", "12"},
                                    F{"n_head", "12"},
                                    F{"n_inner", kNull},
                                    F{"activation_function", "gelu_pytorch_tanh"},
                                    F{"resid_pdrop", "0.1"},
                                    F{"embd_pdrop", "0.1"},
                                    F{"attn_pdrop", "0.1"},
                                    F{"multi_query", "true"},
                                    F{"tie_word_embeddings", "true"}};

constexpr std::array kGptJModels{Word("GPTJForCausalLM")};
constexpr std::array kGptJFields{F{"vocab_size", "50400"}, F{"n_embd", "4096"},
                                 F{"n_layer", "28"},       F{"n_head", "16"},
                                 F{"n_inner", kNull},      F{"activation_function", "gelu_new"},
                                 F{"resid_pdrop", "0.0"},  F{"embd_pdrop", "0.0"},
                                 F{"attn_pdrop", "0.0"},   F{"tie_word_embeddings", "false"}};
constexpr std::array kGptJIdle{Word("n_positions"),
                               Word("n_ctx"),
                               Word("rotary"),
                               Word("scale_attn_weights"),
                               Word("summary_activation"),
                               Word("summary_first_dropout"),
                               Word("summary_proj_to_labels"),
                               Word("summary_type"),
                               Word("summary_use_proj")};

constexpr std::array kGptNeoXModels{Word("GPTNeoXForCausalLM")};
constexpr std::array kGptNeoXFields{
    F{"vocab_size", "50432"},       F{"hidden_size", "6144"},           F{"num_hidden_layers", "44"},
    F{"num_attention_heads", "64"}, F{"intermediate_size", "24576"},    F{"hidden_act", "gelu"},
    F{"attention_bias", "true"},    F{"use_parallel_residual", "true"}, F{"attention_dropout", "0.0"},
    F{"hidden_dropout", "0.0"},     F{"tie_word_embeddings", "false"}};
constexpr std::array kGptNeoXIdle{Word("rotary_pct"), Word("rotary_emb_base"), Word("classifier_dropout"),
                                  Word("attention_probs_dropout_prob"), Word("hidden_dropout_prob")};

constexpr std::array kGptNeoModels{Word("GPTNeoForCausalLM")};
constexpr std::array kGptNeoFields{F{"vocab_size", "50257"},
                                   F{"max_position_embeddings", "2048"},
                                   F{"hidden_size", "2048"},
                                   F{"num_layers", "24"},
                                   F{"num_heads", "16"},
                                   F{"intermediate_size", kNull},
                                   F{"resid_dropout", "0.0"},
                                   F{"embed_dropout", "0.0"},
                                   F{"attention_dropout", "0.0"},
                                   F{"activation_function", "gelu_new"},
                                   F{"tie_word_embeddings", "true"}};
// Local attention is a mask: GPTNeoSelfAttention multiplies whole scores in every layer.
constexpr std::array kGptNeoIdle{
    Word("attention_types"),        Word("attention_layers"),   Word("window_size"),
    Word("classifier_dropout"),     Word("summary_activation"), Word("summary_first_dropout"),
    Word("summary_proj_to_labels"), Word("summary_type"),       Word("summary_use_proj")};

constexpr std::array kOptModels{Word("OPTForCausalLM")};
constexpr std::array kOptFields{F{"vocab_size", "50272"},
                                F{"hidden_size", "768"},
                                F{"num_hidden_layers", "12"},
                                F{"num_attention_heads", "12"},
                                F{"ffn_dim", "3072"},
                                F{"max_position_embeddings", "2048"},
                                F{"word_embed_proj_dim", kNull},
                                F{"do_layer_norm_before", "true"},
                                F{"_remove_final_layer_norm", "false"},
                                F{"enable_bias", "true"},
                                F{"layer_norm_elementwise_affine", "true"},
                                F{"activation_function", "relu"},
                                F{"dropout", "0.1"},
                                F{"attention_dropout", "0.0"},
                                F{"tie_word_embeddings", "true"}};
constexpr std::array kOptIdle{Word("activation_dropout"), Word("init_std"), Word("layerdrop")};

constexpr std::array kBloomModels{Word("BloomForCausalLM")};
constexpr std::array kBloomFields{F{"vocab_size", "250880"},
                                  F{"hidden_size", "64"},
                                  F{"n_layer", "2"},
                                  F{"n_head", "8"},
                                  F{"hidden_dropout", "0.0"},
                                  F{"attention_dropout", "0.0"},
                                  F{"tie_word_embeddings", "true"}};
constexpr std::array kBloomIdle{Word("apply_residual_connection_post_layernorm"),
                                Word("attention_softmax_in_fp32"),
                                Word("bias_dropout_fusion"),
                                Word("masked_softmax_fusion"),
                                Word("n_inner"),
                                Word("offset_alibi"),
                                Word("seq_length"),
                                Word("skip_bias_add"),
                                Word("skip_bias_add_qkv"),
                                Word("slow_but_exact")};

constexpr std::array kFalconModels{Word("FalconForCausalLM"), Word("RWForCausalLM")};
constexpr std::array kFalconFields{F{"vocab_size", "65024"},
                                   F{"hidden_size", "4544"},
                                   F{"num_hidden_layers", "32"},
                                   F{"num_attention_heads", "71"},
                                   F{"num_kv_heads", kNull},
                                   F{"ffn_hidden_size", kNull},
                                   F{"num_ln_in_parallel_attn", kNull},
                                   F{"alibi", "false"},
                                   F{"new_decoder_architecture", "false"},
                                   F{"multi_query", "true"},
                                   F{"parallel_attn", "true"},
                                   F{"bias", "false"},
                                   F{"activation", "gelu"},
                                   F{"hidden_dropout", "0.0"},
                                   F{"attention_dropout", "0.0"},
                                   F{"tie_word_embeddings", "true"}};
constexpr std::array kFalconIdle{Word("apply_residual_connection_post_layernorm")};

constexpr std::array kMptModels{Word("MPTForCausalLM"), Word("MptForCausalLM")};
constexpr std::array kMptFields{F{"vocab_size", "50368"},
                                F{"d_model", "2048"},
                                F{"n_heads", "16"},
                                F{"n_layers", "24"},
                                F{"expansion_ratio", "4"},
                                F{"max_seq_len", "2048"},
                                F{"no_bias", "true"},
                                F{"resid_pdrop", "0.0"},
                                F{"emb_pdrop", "0.0"},
                                F{"attn_config", kNull},
                                F{"ffn_config", kNull},
                                F{"norm_type", "low_precision_layernorm"},
                                F{"tie_word_embeddings", "true"}};
constexpr std::array kMptIdle{
    Word("embedding_fraction"), Word("init_config"),    Word("init_device"), Word("learned_pos_emb"),
    Word("logit_scale"),        Word("tokenizer_name"), Word("verbose"),     Word("fc_type")};

constexpr std::array kPhiModels{Word("PhiForCausalLM")};
constexpr std::array kPhiFields{
    F{"vocab_size", "51200"},     F{"hidden_size", "2048"},       F{"intermediate_size", "8192"},
    F{"num_hidden_layers", "24"}, F{"num_attention_heads", "32"}, F{"num_key_value_heads", kNull},
    F{"hidden_act", "gelu_new"},  F{"qk_layernorm", "false"},     F{"resid_pdrop", "0.0"},
    F{"embd_pdrop", "0.0"},       F{"attention_dropout", "0.0"},  F{"tie_word_embeddings", "false"}};

constexpr std::array kStableLmModels{Word("StableLmForCausalLM"), Word("StableLMEpochForCausalLM")};
constexpr std::array kStableLmFields{F{"vocab_size", "50304"},         F{"hidden_size", "2560"},
                                     F{"intermediate_size", "6912"},   F{"num_hidden_layers", "32"},
                                     F{"num_attention_heads", "32"},   F{"num_key_value_heads", "32"},
                                     F{"hidden_act", "silu"},          F{"use_qkv_bias", "false"},
                                     F{"qk_layernorm", "false"},       F{"use_parallel_residual", "false"},
                                     F{"hidden_dropout", "0.0"},       F{"attention_dropout", "0.0"},
                                     F{"tie_word_embeddings", "false"}};
constexpr std::array kStableLmIdle{Word("rope_pct"), Word("rotary_scaling_factor")};

constexpr std::array kCohereModels{Word("CohereForCausalLM")};
constexpr std::array kCohereFields{
    F{"vocab_size", "256000"},     F{"hidden_size", "8192"},        F{"intermediate_size", "22528"},
    F{"num_hidden_layers", "40"},  F{"num_attention_heads", "64"},  F{"num_key_value_heads", kNull},
    F{"hidden_act", "silu"},       F{"attention_bias", "false"},    F{"use_qk_norm", "false"},
    F{"attention_dropout", "0.0"}, F{"tie_word_embeddings", "true"}};
constexpr std::array kCohereIdle{Word("logit_scale")};

constexpr std::array kCohere2Models{Word("Cohere2ForCausalLM")};
constexpr std::array kCohere2Fields{
    F{"vocab_size", "256000"},        F{"hidden_size", "8192"},       F{"intermediate_size", "22528"},
    F{"num_hidden_layers", "40"},     F{"num_attention_heads", "64"}, F{"num_key_value_heads", kNull},
    F{"hidden_act", "silu"},          F{"attention_bias", "false"},   F{"sliding_window", "4096"},
    F{"sliding_window_pattern", "4"}, F{"layer_types", kNull},        F{"attention_dropout", "0.0"},
    F{"tie_word_embeddings", "true"}};
constexpr std::array kCohere2Idle{
    Word("logit_scale"),        Word("order_of_interleaved_layers"), Word("position_embedding_type"),
    Word("rotary_pct"),         Word("use_embedding_sharing"),       Word("use_gated_activation"),
    Word("use_parallel_block"), Word("use_parallel_embedding")};

constexpr std::array kOlmoModels{Word("OlmoForCausalLM")};
constexpr std::array kOlmoFields{F{"vocab_size", "50304"},        F{"hidden_size", "4096"},
                                 F{"intermediate_size", "11008"}, F{"num_hidden_layers", "32"},
                                 F{"num_attention_heads", "32"},  F{"num_key_value_heads", kNull},
                                 F{"hidden_act", "silu"},         F{"attention_bias", "false"},
                                 F{"attention_dropout", "0.0"},   F{"tie_word_embeddings", "false"}};
constexpr std::array kOlmoIdle{Word("clip_qkv")};

constexpr std::array kStarcoder2Models{Word("Starcoder2ForCausalLM")};
constexpr std::array kStarcoder2Fields{F{"vocab_size", "49152"},
                                       F{"hidden_size", "3072"},
                                       F{"intermediate_size", "12288"},
                                       F{"num_hidden_layers", "30"},
                                       F{"num_attention_heads", "24"},
                                       F{"num_key_value_heads", "2"},
                                       F{"hidden_act", "gelu_pytorch_tanh"},
                                       F{"use_bias", "true"},
                                       F{"sliding_window", kNull},
                                       F{"attention_dropout", "0.0"},
                                       F{"residual_dropout", "0.0"},
                                       F{"embedding_dropout", "0.0"},
                                       F{"tie_word_embeddings", "true"}};
constexpr std::array kStarcoder2Idle{Word("activation_function"),
                                     Word("attention_softmax_in_fp32"),
                                     Word("mlp_type"),
                                     Word("norm_epsilon"),
                                     Word("norm_type"),
                                     Word("scale_attention_softmax_in_fp32"),
                                     Word("scale_attn_weights")};

/// By the names of GPT-2's fields.
void say_gpt2_sizes(Translation& t) {
  t.say("family", "gpt");
  t.copy("layers", "n_layer");
  t.copy("hidden", "n_embd");
  t.copy("heads", "n_head");
  if (t.find("n_inner") != nullptr) t.copy("ffn", "n_inner");
  t.copy("vocab", "vocab_size");
  say_plain_activation(t, "activation_function");
  say_dropout(t, {"resid_pdrop", "embd_pdrop", "attn_pdrop"});
  say_tied_head(t);
}

void say_gpt2(Translation& t) {
  say_gpt2_sizes(t);
  t.copy("positions", "n_positions");
}

void say_bigcode(Translation& t) {
  say_gpt2(t);
  if (t.flag("multi_query")) t.say("kv_heads", "1", "multi_query");
}

/// Biases of the feed-forward block and of the head alone.
void say_gptj(Translation& t) {
  say_gpt2_sizes(t);
  t.say("biases", "feed-forward");
  t.say("position_encoding", "rotary");
  t.say("parallel_block", "one-norm");
  t.say("head_bias", "true");
}

/// By the names of Llama's fields, with rotary positions.
void say_rotary_gpt(Translation& t) {
  t.say("family", "gpt");
  t.copy("layers", "num_hidden_layers");
  t.copy("hidden", "hidden_size");
  t.copy("heads", "num_attention_heads");
  if (t.knows("num_key_value_heads") && t.find("num_key_value_heads") != nullptr)
    t.copy("kv_heads", "num_key_value_heads");
  if (t.find("head_dim") != nullptr) t.copy("head_width", "head_dim");
  t.copy("ffn", "intermediate_size");
  t.copy("vocab", "vocab_size");
  t.say("position_encoding", "rotary");
  say_tied_head(t);
}

void say_gpt_neox(Translation& t) {
  say_rotary_gpt(t);
  say_plain_activation(t, "hidden_act");
  say_biases(t, t.flag("attention_bias"), true, "attention_bias");
  say_dropout(t, {"hidden_dropout", "attention_dropout"});
  if (t.flag("use_parallel_residual")) t.say("parallel_block", "two-norms", "use_parallel_residual");
}

/// Queries, keys and values have no biases, the others do, which is said of all: 0.02% of GPT-Neo 125M's parameters.
void say_gpt_neo(Translation& t) {
  t.say("family", "gpt");
  t.copy("layers", "num_layers");
  t.copy("hidden", "hidden_size");
  t.copy("heads", "num_heads");
  if (t.find("intermediate_size") != nullptr) t.copy("ffn", "intermediate_size");
  t.copy("vocab", "vocab_size");
  t.copy("positions", "max_position_embeddings");
  say_plain_activation(t, "activation_function");
  say_tied_head(t);
  say_dropout(t, {"resid_dropout", "embed_dropout", "attention_dropout"});
}

/// Two positions more than tokens: the first ones are padding's.
void say_opt(Translation& t) {
  t.say("family", "gpt");
  t.copy("layers", "num_hidden_layers");
  t.copy("hidden", "hidden_size");
  t.copy("heads", "num_attention_heads");
  t.copy("ffn", "ffn_dim");
  t.copy("vocab", "vocab_size");
  t.say("positions", std::to_string(t.whole("max_position_embeddings") + 2), "max_position_embeddings");
  if (t.find("word_embed_proj_dim") != nullptr && t.whole("word_embed_proj_dim") != t.whole("hidden_size"))
    t.copy("embedding_width", "word_embed_proj_dim");
  if (!t.flag("do_layer_norm_before")) t.say("final_norm", "false", "do_layer_norm_before");
  if (t.flag("_remove_final_layer_norm")) t.say("final_norm", "false", "_remove_final_layer_norm");
  if (!t.flag("layer_norm_elementwise_affine")) t.say("norm_parameters", "0", "layer_norm_elementwise_affine");
  t.say("biases", t.flag("enable_bias") ? "true" : "false", "enable_bias");
  say_plain_activation(t, "activation_function");
  say_dropout(t, {"dropout", "attention_dropout"});
  say_tied_head(t);
}

void say_bloom(Translation& t) {
  t.say("family", "gpt");
  t.copy("layers", t.named({"n_layer", "num_hidden_layers"}));
  t.copy("hidden", t.named({"hidden_size", "n_embed"}));
  t.copy("heads", t.named({"n_head", "num_attention_heads"}));
  t.copy("vocab", "vocab_size");
  t.say("position_encoding", "alibi");
  t.say("embedding_norm", "true");
  say_dropout(t, {"hidden_dropout", "attention_dropout"});
  say_tied_head(t);
}

void say_falcon(Translation& t) {
  t.say("family", "gpt");
  t.copy("layers", t.named({"num_hidden_layers", "n_layer"}));
  t.copy("hidden", "hidden_size");
  const std::string_view heads = t.named({"num_attention_heads", "n_head"}),
                         kv_heads = t.named({"num_kv_heads", "n_head_kv"});
  t.copy("heads", heads);
  const bool newer = t.flag("new_decoder_architecture"), one = t.flag("multi_query"), beside = t.flag("parallel_attn");
  const Node* const of_keys = t.find(kv_heads);
  if (newer && of_keys != nullptr) t.copy("kv_heads", kv_heads);
  if (!newer && one) t.say("kv_heads", "1", "multi_query");
  if (t.find("ffn_hidden_size") != nullptr) t.copy("ffn", "ffn_hidden_size");
  t.copy("vocab", "vocab_size");
  t.say("position_encoding", t.flag("alibi") ? "alibi" : "rotary", "alibi");
  t.say("biases", t.flag("bias") ? "true" : "false", "bias");
  const bool two_norms =
      newer && (t.find("num_ln_in_parallel_attn") == nullptr || t.whole("num_ln_in_parallel_attn") == 2);
  if (newer || beside)
    t.say("parallel_block", two_norms ? "two-norms" : "one-norm", newer ? "new_decoder_architecture" : "parallel_attn");
  say_plain_activation(t, "activation");
  say_dropout(t, {"hidden_dropout", "attention_dropout"});
  say_tied_head(t);
}

/// Neither linear layers nor norms have biases.
void say_mpt(Translation& t) {
  t.say("family", "gpt");
  t.copy("layers", "n_layers");
  t.copy("hidden", "d_model");
  t.copy("heads", "n_heads");
  t.say("ffn", std::to_string(t.whole("expansion_ratio") * t.whole("d_model")), "expansion_ratio");
  t.copy("vocab", "vocab_size");
  const bool biases = !t.flag("no_bias");
  t.say("biases", biases ? "true" : "false", "no_bias");
  t.say("norm_parameters", biases ? "2" : "1", "no_bias");
  t.expect("norm_type", "low_precision_layernorm", "RMSNorm goes with no other part of this model type");
  t.expect_inside("ffn_config", {{"ffn_type", "mptmlp"}}, {"fc_type"});
  t.expect_inside("attn_config",
                  {{"attn_type", "multihead_attention"}, {"qk_ln", "false"}, {"prefix_lm", "false"}, {"rope", "false"}},
                  {"alibi", "alibi_bias_max", "attn_impl", "attn_pdrop", "attn_uses_sequence_id", "clip_qkv",
                   "model_type", "softmax_scale"});
  const Node* const attention = t.find("attn_config");
  const Node* const said = attention == nullptr ? nullptr : attention->find("alibi");
  const bool alibi = said == nullptr || said->scalar != "false";
  t.say("position_encoding", alibi ? "alibi" : "learned", "attn_config");
  t.find("max_seq_len");
  if (!alibi) t.copy("positions", "max_seq_len");
  say_dropout(t, {"resid_pdrop", "emb_pdrop"});
  say_tied_head(t);
}

void say_phi(Translation& t) {
  say_rotary_gpt(t);
  say_plain_activation(t, "hidden_act");
  t.expect("qk_layernorm", "false", "LayerNorm of queries and keys is not built");
  t.say("parallel_block", "one-norm");
  t.say("head_bias", "true");
  say_dropout(t, {"resid_pdrop", "embd_pdrop", "attention_dropout"});
}

void say_stablelm(Translation& t) {
  say_rotary_gpt(t);
  say_gated_activation(t, "hidden_act");
  t.say("biases", "false");
  if (t.flag("use_qkv_bias")) t.say("qkv_bias", "true", "use_qkv_bias");
  t.expect("qk_layernorm", "false", "LayerNorm of queries and keys is not built");
  if (t.flag("use_parallel_residual")) t.say("parallel_block", "one-norm", "use_parallel_residual");
  say_dropout(t, {"hidden_dropout", "attention_dropout"});
}

void say_cohere_layers(Translation& t) {
  say_rotary_gpt(t);
  say_gated_activation(t, "hidden_act");
  say_biases(t, t.flag("attention_bias"), false, "attention_bias");
  t.say("norm_parameters", "1");
  t.say("parallel_block", "one-norm");
  say_dropout(t, {"attention_dropout"});
}

/// Each head of queries and keys has a norm with parameters of its own.
void say_cohere(Translation& t) {
  say_cohere_layers(t);
  if (t.flag("use_qk_norm")) t.say("qk_norm", "all-heads", "use_qk_norm");
}

void say_cohere2(Translation& t) {
  say_cohere_layers(t);
  say_window(t, 4);
}

void say_olmo(Translation& t) {
  say_rotary_gpt(t);
  say_gated_activation(t, "hidden_act");
  say_biases(t, t.flag("attention_bias"), false, "attention_bias");
  t.say("norm_parameters", "0");
  say_dropout(t, {"attention_dropout"});
}

void say_starcoder2(Translation& t) {
  say_rotary_gpt(t);
  say_plain_activation(t, "hidden_act");
  t.say("biases", t.flag("use_bias") ? "true" : "false", "use_bias");
  say_dropout(t, {"residual_dropout", "embedding_dropout", "attention_dropout"});
  say_window(t, 0);
}

constexpr ModelType kGptTypes[] = {
    {"gpt2", kGpt2Models, "GPT2Config", kGpt2Fields, kGpt2Idle, say_gpt2},
    {"gpt_bigcode", kBigCodeModels, "GPTBigCodeConfig", kBigCodeFields, kGpt2Idle, say_bigcode},
    {"gpt_neo", kGptNeoModels, "GPTNeoConfig", kGptNeoFields, kGptNeoIdle, say_gpt_neo},
    {"gptj", kGptJModels, "GPTJConfig", kGptJFields, kGptJIdle, say_gptj},
    {"gpt_neox", kGptNeoXModels, "GPTNeoXConfig", kGptNeoXFields, kGptNeoXIdle, say_gpt_neox},
    {"opt", kOptModels, "OPTConfig", kOptFields, kOptIdle, say_opt},
    {"bloom", kBloomModels, "BloomConfig", kBloomFields, kBloomIdle, say_bloom},
    {"falcon", kFalconModels, "FalconConfig", kFalconFields, kFalconIdle, say_falcon},
    {"mpt", kMptModels, "MptConfig", kMptFields, kMptIdle, say_mpt},
    {"phi", kPhiModels, "PhiConfig", kPhiFields, {}, say_phi},
    {"stablelm", kStableLmModels, "StableLmConfig", kStableLmFields, kStableLmIdle, say_stablelm},
    {"cohere", kCohereModels, "CohereConfig", kCohereFields, kCohereIdle, say_cohere},
    {"cohere2", kCohere2Models, "Cohere2Config", kCohere2Fields, kCohere2Idle, say_cohere2},
    {"olmo", kOlmoModels, "OlmoConfig", kOlmoFields, kOlmoIdle, say_olmo},
    {"starcoder2", kStarcoder2Models, "Starcoder2Config", kStarcoder2Fields, kStarcoder2Idle, say_starcoder2},
};

}  // namespace

extern const std::span<const ModelType> gpt_types;
const std::span<const ModelType> gpt_types = kGptTypes;

}  // namespace stepcast::language
