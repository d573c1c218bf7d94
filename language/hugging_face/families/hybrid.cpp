// Decoders that have attention in some of their layers alone: state-space layers (Mamba-2) or linear attention (gated
// DeltaNet) stand in the others.

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <utility>

#include "language/hugging_face/decoder_fields.h"

namespace stepcast::language {
namespace {

using F = ConfigField;
using Word = std::string_view;

constexpr std::array kNemotronModels{Word("NemotronHForCausalLM")};
constexpr std::array kNemotronFields{
    F{"vocab_size", "131072"},
    F{"hidden_size", "4096"},
    F{"intermediate_size", "21504"},
    F{"num_hidden_layers", "52"},
    F{"layers_block_type", kNull},
    F{"hybrid_override_pattern", "M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M-"},
    F{"num_attention_heads", "32"},
    F{"head_dim", "128"},
    F{"attention_head_dim", kNull},
    F{"num_key_value_heads", "8"},
    F{"mlp_hidden_act", "relu2"},
    F{"attention_bias", "false"},
    F{"mlp_bias", "false"},
    F{"use_bias", "false"},
    F{"tie_word_embeddings", "false"},
    F{"attention_dropout", "0.0"},
    F{"hidden_dropout", "0.0"},
    F{"sliding_window", kNull},
    F{"ssm_state_size", "128"},
    F{"mamba_num_heads", "128"},
    F{"mamba_head_dim", "64"},
    F{"mamba_hidden_act", "silu"},
    F{"mamba_proj_bias", "false"},
    F{"n_groups", "8"},
    F{"conv_kernel", "4"},
    F{"chunk_size", "128"},
    F{"n_routed_experts", kNull},
    F{"n_shared_experts", "1"},
    F{"num_experts_per_tok", "2"},
    F{"moe_intermediate_size", "7688"},
    F{"moe_shared_expert_intermediate_size", "7688"},
    F{"moe_latent_size", kNull},
    F{"num_nextn_predict_layers", kNull},
    F{"mtp_layers_block_type", kNull},
    F{"mtp_hybrid_override_pattern", "*E"}};
constexpr std::array kNemotronIdle{Word("expand"),
                                   Word("use_conv_bias"),
                                   Word("mamba_ssm_cache_dtype"),
                                   Word("num_logits_to_keep"),
                                   Word("norm_eps"),
                                   Word("layer_norm_epsilon"),
                                   Word("norm_topk_prob"),
                                   Word("n_group"),
                                   Word("topk_group"),
                                   Word("routed_scaling_factor"),
                                   Word("rescale_prenorm_residual"),
                                   Word("residual_in_fp32"),
                                   Word("partial_rotary_factor"),
                                   Word("rope_theta"),
                                   Word("time_step_rank"),
                                   Word("time_step_floor"),
                                   Word("time_step_limit"),
                                   Word("time_step_max"),
                                   Word("time_step_min"),
                                   Word("use_mamba_kernels"),
                                   Word("moe_shared_expert_overlap")};

constexpr std::array kQwenNextModels{Word("Qwen3NextForCausalLM")};
constexpr std::array kQwenNextFields{F{"vocab_size", "151936"},
                                     F{"hidden_size", "2048"},
                                     F{"intermediate_size", "5632"},
                                     F{"num_hidden_layers", "48"},
                                     F{"num_attention_heads", "16"},
                                     F{"num_key_value_heads", "2"},
                                     F{"head_dim", "256"},
                                     F{"hidden_act", "silu"},
                                     F{"tie_word_embeddings", "false"},
                                     F{"attention_bias", "false"},
                                     F{"attention_dropout", "0.0"},
                                     F{"linear_conv_kernel_dim", "4"},
                                     F{"linear_key_head_dim", "128"},
                                     F{"linear_value_head_dim", "128"},
                                     F{"linear_num_key_heads", "16"},
                                     F{"linear_num_value_heads", "32"},
                                     F{"decoder_sparse_step", "1"},
                                     F{"moe_intermediate_size", "512"},
                                     F{"shared_expert_intermediate_size", "512"},
                                     F{"num_experts_per_tok", "10"},
                                     F{"num_experts", "512"},
                                     F{"mlp_only_layers", kNull},
                                     F{"full_attention_interval", "4"},
                                     F{"use_sliding_window", "false"},
                                     F{"layer_types", kNull}};
constexpr std::array kQwenNextIdle{Word("norm_topk_prob"), Word("partial_rotary_factor"), Word("rope_theta")};

constexpr std::array kQwen35Models{Word("Qwen3_5ForCausalLM")};
constexpr std::array kQwen35Fields{F{"vocab_size", "248320"},
                                   F{"hidden_size", "4096"},
                                   F{"intermediate_size", "12288"},
                                   F{"num_hidden_layers", "32"},
                                   F{"num_attention_heads", "16"},
                                   F{"num_key_value_heads", "4"},
                                   F{"head_dim", "256"},
                                   F{"hidden_act", "silu"},
                                   F{"tie_word_embeddings", "false"},
                                   F{"attention_bias", "false"},
                                   F{"attention_dropout", "0.0"},
                                   F{"linear_conv_kernel_dim", "4"},
                                   F{"linear_key_head_dim", "128"},
                                   F{"linear_value_head_dim", "128"},
                                   F{"linear_num_key_heads", "16"},
                                   F{"linear_num_value_heads", "32"},
                                   F{"attn_output_gate", "true"},
                                   F{"full_attention_interval", "4"},
                                   F{"layer_types", kNull}};
constexpr std::array kQwen35MoeModels{Word("Qwen3_5MoeForCausalLM")};
constexpr std::array kQwen35MoeFields{F{"vocab_size", "248320"},
                                      F{"hidden_size", "2048"},
                                      F{"num_hidden_layers", "40"},
                                      F{"num_attention_heads", "16"},
                                      F{"num_key_value_heads", "2"},
                                      F{"head_dim", "256"},
                                      F{"hidden_act", "silu"},
                                      F{"tie_word_embeddings", "false"},
                                      F{"attention_bias", "false"},
                                      F{"attention_dropout", "0.0"},
                                      F{"linear_conv_kernel_dim", "4"},
                                      F{"linear_key_head_dim", "128"},
                                      F{"linear_value_head_dim", "128"},
                                      F{"linear_num_key_heads", "16"},
                                      F{"linear_num_value_heads", "32"},
                                      F{"moe_intermediate_size", "512"},
                                      F{"shared_expert_intermediate_size", "512"},
                                      F{"num_experts_per_tok", "8"},
                                      F{"num_experts", "256"},
                                      F{"attn_output_gate", "true"},
                                      F{"full_attention_interval", "4"},
                                      F{"layer_types", kNull}};
// The released weights have a layer of multi-token prediction, transformers' classes have none; these do not read
// mlp_only_layers, nor that of experts intermediate_size.
constexpr std::array kQwen35Idle{Word("mtp_num_hidden_layers"), Word("mtp_use_dedicated_embeddings"),
                                 Word("mamba_ssm_dtype"),       Word("mlp_only_layers"),
                                 Word("partial_rotary_factor"), Word("rope_theta")};
constexpr std::array kQwen35MoeIdle{Word("mtp_num_hidden_layers"), Word("mtp_use_dedicated_embeddings"),
                                    Word("mamba_ssm_dtype"),       Word("mlp_only_layers"),
                                    Word("partial_rotary_factor"), Word("rope_theta"),
                                    Word("norm_topk_prob"),        Word("intermediate_size")};

constexpr std::array kGraniteHybridModels{Word("GraniteMoeHybridForCausalLM")};
constexpr std::array kGraniteHybridFields{F{"vocab_size", "32000"},
                                          F{"hidden_size", "4096"},
                                          F{"intermediate_size", "11008"},
                                          F{"num_hidden_layers", "32"},
                                          F{"num_attention_heads", "32"},
                                          F{"num_key_value_heads", kNull},
                                          F{"hidden_act", "silu"},
                                          F{"tie_word_embeddings", "false"},
                                          F{"attention_bias", "false"},
                                          F{"attention_dropout", "0.0"},
                                          F{"num_local_experts", "8"},
                                          F{"num_experts_per_tok", "2"},
                                          F{"shared_intermediate_size", "1024"},
                                          F{"position_embedding_type", kNull},
                                          F{"layer_types", kNull},
                                          F{"mamba_n_heads", "128"},
                                          F{"mamba_n_groups", "1"},
                                          F{"mamba_d_state", "256"},
                                          F{"mamba_d_head", "auto"},
                                          F{"mamba_d_conv", "4"},
                                          F{"mamba_expand", "2"},
                                          F{"mamba_chunk_size", "256"},
                                          F{"mamba_proj_bias", "false"}};
constexpr std::array kGraniteHybridIdle{
    Word("mamba_conv_bias"),      Word("embedding_multiplier"), Word("logits_scaling"), Word("residual_multiplier"),
    Word("attention_multiplier"), Word("router_aux_loss_coef"), Word("init_method"),    Word("normalization_function"),
    Word("rope_theta"),           Word("rope_scaling")};

/// The letters of words that name layers: "mamba", "attention", "moe", "mlp", or what transformers 5 calls the first
/// two.
std::string letters_of(Translation& t, std::string_view field) {
  constexpr std::pair<Word, char> kLetters[] = {{"mamba", 'M'},     {"linear_attention", 'M'},
                                                {"attention", '*'}, {"full_attention", '*'},
                                                {"moe", 'E'},       {"mlp", '-'}};
  std::string letters;
  for (const Node& word : t.items(field)) {
    const auto known = std::ranges::find_if(kLetters, [&](const auto& each) { return each.first == word.scalar; });
    if (known == std::end(kLetters))
      t.refuse_at(word.place, field, "found " + found(word) + ", expected mamba, attention, moe or mlp");
    letters += known->second;
  }
  return letters;
}

/// The halves of layers, letter by letter or word by word, are layers of their own. Where both are given the words
/// count.
void say_nemotron(Translation& t) {
  const std::string words = letters_of(t, "layers_block_type"), ahead = letters_of(t, "mtp_layers_block_type");
  const std::string pattern = words.empty() ? t.text("hybrid_override_pattern") : words;
  t.leave({"hybrid_override_pattern"});
  if (const std::int64_t layers = t.whole("num_hidden_layers");
      words.empty() && static_cast<std::int64_t>(pattern.size()) != layers)
    t.refuse("hybrid_override_pattern", "found " + std::to_string(pattern.size()) +
                                            " letters, expected one for each of " + std::to_string(layers) + " layers");
  if (!words.empty() && t.states("num_hidden_layers") &&
      t.whole("num_hidden_layers") != static_cast<std::int64_t>(words.size()))
    t.refuse("num_hidden_layers", "found " + t.text("num_hidden_layers") + ", expected the " +
                                      std::to_string(words.size()) + " layers that layers_block_type names");
  if (pattern.find_first_not_of("M*-E") != std::string::npos)
    t.refuse("hybrid_override_pattern", "found '" + pattern + "', expected letters M, *, - and E");
  const bool experts = pattern.find('E') != std::string::npos;
  t.say("family", experts ? "moe" : "llama");
  say_sizes(t);
  if (!words.empty()) t.say("layers", std::to_string(words.size()), "layers_block_type");
  if (t.find("attention_head_dim") != nullptr) t.copy("head_width", "attention_head_dim");
  t.copy("ffn", "intermediate_size");
  t.say("pattern", pattern, words.empty() ? "hybrid_override_pattern" : "layers_block_type");
  t.say("position_encoding", "none");
  t.one_of("mlp_hidden_act", {"relu2"});
  t.say("activation", "squared-relu", "mlp_hidden_act");
  say_tied_head(t);
  const bool attention = t.flag("attention_bias"), feed_forward = t.flag("mlp_bias");
  if (attention || feed_forward) say_biases(t, attention, feed_forward, attention ? "attention_bias" : "mlp_bias");
  for (const Word field : {Word("use_bias"), Word("mamba_proj_bias")})
    t.expect(field, "false", "state-space layers' multiplies have none");
  say_dropout(t, {"attention_dropout", "hidden_dropout"});
  if (t.find("sliding_window") != nullptr) t.copy("window", "sliding_window");
  t.expect("mamba_hidden_act", "silu", "gates of state-space layers");
  const std::pair<Word, Word> sizes[] = {{"mamba.heads", "mamba_num_heads"},   {"mamba.head", "mamba_head_dim"},
                                         {"mamba.state", "ssm_state_size"},    {"mamba.groups", "n_groups"},
                                         {"mamba.convolution", "conv_kernel"}, {"mamba.chunk", "chunk_size"}};
  const bool mamba = pattern.find('M') != std::string::npos;
  for (const auto& [key, field] : sizes) mamba ? t.copy(key, field) : t.leave({field});
  if (!experts)
    return t.leave({"n_routed_experts", "num_experts_per_tok", "moe_intermediate_size", "n_shared_experts",
                    "moe_shared_expert_intermediate_size", "moe_latent_size", "num_nextn_predict_layers",
                    "mtp_hybrid_override_pattern"});
  t.copy("experts.count", "n_routed_experts");
  t.copy("experts.active", "num_experts_per_tok");
  t.copy("experts.ffn", "moe_intermediate_size");
  t.say("experts.shared_ffn",
        std::to_string(t.whole("n_shared_experts", 0) * t.whole("moe_shared_expert_intermediate_size")),
        "moe_shared_expert_intermediate_size");
  if (t.find("moe_latent_size") != nullptr) t.copy("experts.latent", "moe_latent_size");
  constexpr const char* kAhead = "layers of multi-token prediction are of attention and experts";
  if (ahead.empty())
    t.expect("mtp_hybrid_override_pattern", "*E", kAhead);
  else if (ahead != "*E")
    t.refuse("mtp_layers_block_type", "found others than attention and moe, expected these: " + std::string(kAhead));
  t.leave({"mtp_hybrid_override_pattern"});
  if (t.find("num_nextn_predict_layers") != nullptr) t.copy("mtp_layers", "num_nextn_predict_layers", 0);
}

/// Gated DeltaNet in most layers, and gated attention in each so-many-th. `behind`: the letter of what each has behind.
void say_gated_layers(Translation& t, char behind) {
  t.say("qk_norm", "true");
  t.say("attention_gate", "true");
  const std::int64_t every = t.whole("full_attention_interval"), layers = t.whole("num_hidden_layers");
  if (every > layers)
    t.refuse("full_attention_interval",
             "found " + std::to_string(every) + ", expected at most the " + std::to_string(layers) + " layers");
  expect_each_layer(t, "layer_types", [&](std::int64_t layer) {
    return (layer + 1) % every == 0 ? "full_attention" : "linear_attention";
  });
  std::string pattern;
  for (std::int64_t layer = 1; layer <= (layers % every == 0 ? every : layers); ++layer)
    pattern += std::string(layer % every == 0 ? "(*" : "(G") + behind + ")";
  t.say("pattern", pattern, "full_attention_interval");
  const std::pair<Word, Word> sizes[] = {{"delta_net.heads", "linear_num_value_heads"},
                                         {"delta_net.key_heads", "linear_num_key_heads"},
                                         {"delta_net.key", "linear_key_head_dim"},
                                         {"delta_net.value", "linear_value_head_dim"},
                                         {"delta_net.convolution", "linear_conv_kernel_dim"}};
  for (const auto& [key, field] : sizes) t.copy(key, field);
}

void say_qwen_experts_of_all_layers(Translation& t) {
  t.say("family", "moe");
  t.copy("experts.count", "num_experts");
  t.copy("experts.active", "num_experts_per_tok");
  t.copy("experts.ffn", "moe_intermediate_size");
  t.copy("experts.shared_ffn", "shared_expert_intermediate_size", 0);
}

void say_qwen3_next(Translation& t) {
  say_llama(t);
  say_qwen_experts_of_all_layers(t);
  t.expect("decoder_sparse_step", "1", "all layers have experts");
  if (const auto dense = t.items("mlp_only_layers"); !dense.empty())
    t.refuse("mlp_only_layers", "found layers without experts, expected none: these are not built with a pattern");
  t.expect("use_sliding_window", "false", "attention sees all tokens");
  say_gated_layers(t, 'E');
}

void say_qwen3_5(Translation& t) {
  say_llama(t);
  t.expect("attn_output_gate", "true", "attention is always gated in this family");
  say_gated_layers(t, '-');
}

/// No layer has a feed-forward block without experts: what is said of its width is the experts'.
void say_qwen3_5_moe(Translation& t) {
  say_sizes(t);
  t.copy("ffn", "moe_intermediate_size");
  say_gated_activation(t, "hidden_act");
  say_tied_head(t);
  if (t.flag("attention_bias")) say_biases(t, true, false, "attention_bias");
  say_dropout(t, {"attention_dropout"});
  say_qwen_experts_of_all_layers(t);
  t.expect("attn_output_gate", "true", "attention is always gated in this family");
  say_gated_layers(t, 'E');
}

/// Every layer has a mixer and, behind it, experts and a block that all tokens visit, or that block alone.
void say_granite_hybrid(Translation& t) {
  const bool experts = t.whole("num_local_experts", 0) > 0;
  t.say("family", experts ? "moe" : "llama");
  say_sizes(t);
  say_gated_activation(t, "hidden_act");
  say_tied_head(t);
  if (t.flag("attention_bias")) say_biases(t, true, false, "attention_bias");
  say_dropout(t, {"attention_dropout"});
  if (t.find("position_embedding_type") == nullptr || t.one_of("position_embedding_type", {"rope", "nope"}) == 1)
    t.say("position_encoding", "none", "position_embedding_type");
  std::string pattern;
  const std::int64_t layers = t.whole("num_hidden_layers");
  const std::span<const Node> words = t.items("layer_types");
  if (!words.empty() && static_cast<std::int64_t>(words.size()) != layers)
    t.refuse("layer_types", "found a list of " + std::to_string(words.size()) + ", expected a word for each of " +
                                std::to_string(layers) + " layers");
  const char* const behind = experts ? "E)" : "-)";
  for (const Node& word : words) {
    if (word.scalar != "mamba" && word.scalar != "attention")
      t.refuse_at(word.place, "layer_types", "found " + found(word) + ", expected mamba or attention");
    pattern += (word.scalar == "mamba" ? "(M" : "(*") + std::string(behind);
  }
  if (words.empty()) pattern = "(M" + std::string(behind);
  t.say("pattern", pattern, "layer_types");
  const std::pair<Word, Word> sizes[] = {{"mamba.heads", "mamba_n_heads"},
                                         {"mamba.groups", "mamba_n_groups"},
                                         {"mamba.state", "mamba_d_state"},
                                         {"mamba.convolution", "mamba_d_conv"},
                                         {"mamba.chunk", "mamba_chunk_size"}};
  const bool mamba = pattern.find('M') != std::string::npos, by_width = t.text("mamba_d_head") == "auto";
  for (const auto& [key, field] : sizes) mamba ? t.copy(key, field) : t.leave({field});
  t.leave({"mamba_expand"});
  t.expect("mamba_proj_bias", "false", "state-space layers' multiplies have none");
  if (mamba && by_width)
    t.say("mamba.head", std::to_string(t.whole("mamba_expand") * t.whole("hidden_size") / t.whole("mamba_n_heads")),
          "mamba_expand");
  else if (mamba)
    t.copy("mamba.head", "mamba_d_head");
  if (!experts) {
    t.leave({"num_experts_per_tok", "intermediate_size"});
    return t.copy("ffn", "shared_intermediate_size");
  }
  t.copy("ffn", "intermediate_size");
  t.copy("experts.count", "num_local_experts");
  t.copy("experts.active", "num_experts_per_tok");
  t.copy("experts.ffn", "intermediate_size");
  t.copy("experts.shared_ffn", "shared_intermediate_size", 0);
}

constexpr ModelType kHybridTypes[] = {
    {"nemotron_h", kNemotronModels, "NemotronHConfig", kNemotronFields, kNemotronIdle, say_nemotron},
    {"qwen3_next", kQwenNextModels, "Qwen3NextConfig", kQwenNextFields, kQwenNextIdle, say_qwen3_next},
    {"qwen3_5_text", kQwen35Models, "Qwen3_5TextConfig", kQwen35Fields, kQwen35Idle, say_qwen3_5},
    {"qwen3_5_moe_text", kQwen35MoeModels, "Qwen3_5MoeTextConfig", kQwen35MoeFields, kQwen35MoeIdle, say_qwen3_5_moe},
    {"granitemoehybrid", kGraniteHybridModels, "GraniteMoeHybridConfig", kGraniteHybridFields, kGraniteHybridIdle,
     say_granite_hybrid},
};

}  // namespace

extern const std::span<const ModelType> hybrid_types;
const std::span<const ModelType> hybrid_types = kHybridTypes;

}  // namespace stepcast::language
