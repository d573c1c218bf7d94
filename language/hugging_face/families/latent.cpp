// Decoders with latent attention.

#include <array>
#include <string>

#include "language/hugging_face/decoder_fields.h"

namespace stepcast::language {
namespace {

using F = ConfigField;
using Word = std::string_view;

constexpr std::array kDeepSeekV2Models{Word("DeepseekV2ForCausalLM")};
constexpr std::array kDeepSeekV2Fields{F{"vocab_size", "32000"},
                                       F{"hidden_size", "4096"},
                                       F{"intermediate_size", "11008"},
                                       F{"moe_intermediate_size", "1407"},
                                       F{"num_hidden_layers", "32"},
                                       F{"num_attention_heads", "32"},
                                       F{"num_key_value_heads", kNull},
                                       F{"hidden_act", "silu"},
                                       F{"attention_bias", "false"},
                                       F{"mlp_bias", "false"},
                                       F{"tie_word_embeddings", "false"},
                                       F{"kv_lora_rank", "512"},
                                       F{"q_lora_rank", "1536"},
                                       F{"qk_nope_head_dim", "128"},
                                       F{"qk_rope_head_dim", "64"},
                                       F{"v_head_dim", "128"},
                                       F{"n_routed_experts", "64"},
                                       F{"n_shared_experts", "2"},
                                       F{"num_experts_per_tok", kMustBeGiven},
                                       F{"first_k_dense_replace", "0"},
                                       F{"moe_layer_freq", "1"},
                                       F{"attention_dropout", "0.0"}};

constexpr std::array kDeepSeekV3Models{Word("DeepseekV3ForCausalLM")};
constexpr std::array kKimiModels{Word("DeepseekV3ForCausalLM"), Word("KimiK2ForCausalLM")};
constexpr std::array kDeepSeekV3Fields{
    F{"vocab_size", "129280"},          F{"hidden_size", "7168"},     F{"intermediate_size", "18432"},
    F{"moe_intermediate_size", "2048"}, F{"num_hidden_layers", "61"}, F{"num_attention_heads", "128"},
    F{"num_key_value_heads", "128"},    F{"hidden_act", "silu"},      F{"attention_bias", "false"},
    F{"tie_word_embeddings", "false"},  F{"kv_lora_rank", "512"},     F{"q_lora_rank", "1536"},
    F{"qk_nope_head_dim", "128"},       F{"qk_rope_head_dim", "64"},  F{"v_head_dim", "128"},
    F{"n_routed_experts", "256"},       F{"n_shared_experts", "1"},   F{"num_experts_per_tok", "8"},
    F{"first_k_dense_replace", "3"},    F{"moe_layer_freq", "1"},     F{"num_nextn_predict_layers", "0"},
    F{"attention_dropout", "0.0"}};

/// Heads of keys and values are all projected up from what is latent, whatever num_key_value_heads says.
void say_deepseek(Translation& t) {
  t.say("family", "moe");
  t.copy("layers", "num_hidden_layers");
  t.copy("hidden", "hidden_size");
  t.copy("heads", "num_attention_heads");
  t.find("num_key_value_heads");
  t.copy("ffn", "intermediate_size");
  t.copy("vocab", "vocab_size");
  t.copy("experts.count", "n_routed_experts");
  t.copy("experts.active", "num_experts_per_tok");
  t.copy("experts.ffn", "moe_intermediate_size");
  if (t.find("n_shared_experts") != nullptr)
    t.say("experts.shared_ffn", std::to_string(t.whole("n_shared_experts", 0) * t.whole("moe_intermediate_size")),
          "n_shared_experts");
  t.copy("experts.dense_layers", "first_k_dense_replace", 0);
  t.expect("moe_layer_freq", "1", "layers behind the first dense ones all have experts");
  t.copy("latent.kv_rank", "kv_lora_rank");
  if (t.find("q_lora_rank") != nullptr) t.copy("latent.query_rank", "q_lora_rank");
  t.copy("latent.head", "qk_nope_head_dim");
  t.copy("latent.rotary", "qk_rope_head_dim");
  t.copy("latent.value", "v_head_dim");
  say_gated_activation(t, "hidden_act");
  say_tied_head(t);
  t.expect("attention_bias", "false", "biases of latent projections are not built");
  if (t.knows("mlp_bias")) t.expect("mlp_bias", "false", "biases of experts are not built here");
  say_dropout(t, {"attention_dropout"});
}

void say_deepseek_v3(Translation& t) {
  say_deepseek(t);
  t.copy("mtp_layers", "num_nextn_predict_layers", 0);
}

constexpr ModelType kLatentTypes[] = {
    {"deepseek_v2", kDeepSeekV2Models, "DeepseekV2Config", kDeepSeekV2Fields, {}, say_deepseek},
    {"deepseek_v3", kDeepSeekV3Models, "DeepseekV3Config", kDeepSeekV3Fields, {}, say_deepseek_v3},
    {"kimi_k2", kKimiModels, "DeepseekV3Config", kDeepSeekV3Fields, {}, say_deepseek_v3},
};

}  // namespace

extern const std::span<const ModelType> latent_types;
const std::span<const ModelType> latent_types = kLatentTypes;

}  // namespace stepcast::language
