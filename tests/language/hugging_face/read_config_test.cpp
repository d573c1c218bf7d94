// What is said of a config.json: fields with their places, what is left out, what is not understood.

#include "language/hugging_face/read_config.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "language/hugging_face/model_type.h"
#include "tests/language/hugging_face/models.h"

namespace stepcast::language {
namespace {

std::string said_of(const std::string& config) {
  return complaint([&] { hugging_face_model(config); });
}

TEST(HuggingFaceConfig, OfEveryTypeReadsWithItsDefaultsAlone) {
  std::set<std::string_view> names;
  for (const ModelType* type : model_types()) {
    SCOPED_TRACE(type->name);
    EXPECT_TRUE(names.insert(type->name).second);
    std::string config = "{\"model_type\": \"" + std::string(type->name) + "\"";
    for (const ConfigField& field : type->fields)
      if (field.fallback == kMustBeGiven)
        config += ", \"" + std::string(field.name) + "\": " + (field.name == "num_experts_per_tok" ? "2" : "64");
    schedules::Model model;
    EXPECT_EQ(complaint([&] { model = hugging_face_model(config + "}"); }), "");
    EXPECT_GT(parameters_of(model), 0);
    for (const ConfigField& field : type->fields)
      EXPECT_EQ(std::ranges::count(type->without_effect, field.name), 0) << field.name;
  }
}

TEST(HuggingFaceConfig, ValuesHaveThePlacesOfTheirFields) {
  const Node keys = read_hugging_face_config(small_llama(), "models/tiny/config.json");
  EXPECT_EQ(text(locate(keys, "ffn")), "models/tiny/config.json:1:105");
  EXPECT_EQ(text(locate(keys, "layers")), "models/tiny/config.json:2:23");
  EXPECT_EQ(keys.find("name")->scalar, "tiny");
}

TEST(HuggingFaceConfig, ListsWhatIsLeftOutAndWhatChangesNothing) {
  const std::string source =
      read_hugging_face_config(small_llama(R"(, "rope_theta": 500000.0, "bos_token_id": 1, "head_dim": null)"),
                               "config.json")
          .find("source")
          ->scalar;
  EXPECT_EQ(source,
            "Hugging Face configuration of model_type llama. Left out, and so as LlamaConfig has it: hidden_act silu, "
            "tie_word_embeddings false, attention_bias false, mlp_bias false, attention_dropout 0.0. Without effect on "
            "a forecast: architectures, rope_theta, bos_token_id.");
}

TEST(HuggingFaceConfig, TakesNullForNoValueAndNotForTheDefault) {
  EXPECT_EQ(hugging_face_model(R"({"model_type": "mistral"})").variations.window, 4096);
  const schedules::Model model =
      hugging_face_model(R"({"model_type": "mistral", "sliding_window": null, "num_key_value_heads": null})");
  EXPECT_EQ(model.variations.window, 0);
  EXPECT_EQ(model.kv_heads, 32);
  EXPECT_EQ(said_of(R"({"model_type": "mistral", "hidden_size": null})"),
            "folder/config.json:1:27: hidden_size: found null, expected a value");
}

TEST(HuggingFaceConfig, NamesWhatIsNotUnderstood) {
  EXPECT_EQ(
      said_of(small_llama(", \"num_hiden_layers\": 5")),
      "folder/config.json:2:72: found the field 'num_hiden_layers', of which it is not known what it changes in a "
      "model of type llama; did you mean 'num_hidden_layers'? (docs/hugging-face.md lists those that are known)");
  EXPECT_EQ(said_of(small_llama(", \"hidden_act\": \"relu2\"")).substr(0, 69),
            "folder/config.json:2:86: hidden_act: found 'relu2', expected one of s");
  EXPECT_EQ(said_of(small_llama(", \"num_key_value_heads\": \"many\"")),
            "folder/config.json:2:95: num_key_value_heads: found 'many', expected a whole number of at least 1");
  EXPECT_EQ(said_of(R"({"model_type": "llama", "num_hidden_layers": 2.5})"),
            "folder/config.json:1:46: num_hidden_layers: found '2.5', expected a whole number of at least 1");
  EXPECT_EQ(said_of(small_llama(", \"tie_encoder_decoder\": true")),
            "folder/config.json:2:95: tie_encoder_decoder: found 'true', expected false: nothing else is built");
}

TEST(HuggingFaceConfig, OfAnUnknownTypeOrArchitectureIsRefusedByTheFieldsName) {
  const std::string hybrid = said_of(R"({"architectures": ["NemotronHForCausalLM"], "model_type": "nemotron_h"})");
  EXPECT_EQ(hybrid.substr(0, 86),
            "folder/config.json:1:59: model_type: found 'nemotron_h', expected one of llama, mistra");
  EXPECT_EQ(said_of(R"({"model_type": "qwen2_vl"})").find("folder/config.json:1:16: model_type: found 'qwen2_vl'"), 0U);
  EXPECT_NE(said_of(R"({"model_type": "qwen2_vl"})").find("did you mean 'qwen2"), std::string::npos);
  EXPECT_EQ(said_of(R"({"architectures": ["MambaForCausalLM"]})").substr(0, 78),
            "folder/config.json:1:20: architectures: found 'MambaForCausalLM', expected one");
  EXPECT_EQ(said_of(R"({"architectures": ["LlamaForSequenceClassification"], "model_type": "llama"})").substr(0, 84),
            "folder/config.json:1:20: architectures: found 'LlamaForSequenceClassification', expe");
  EXPECT_EQ(said_of(R"({"architectures": "LlamaModel", "model_type": "llama"})").find("folder/config.json:1:19: archi"),
            0U);
  EXPECT_EQ(said_of(R"({"model_type": ["llama"]})").find("folder/config.json:1:16: model_type: found a list"), 0U);
  EXPECT_EQ(said_of("{}").substr(0, 51), "folder/config.json:1:1: model_type: missing, expect");
}

TEST(HuggingFaceConfig, OfSeveralKindsOfInputIsItsTextModelOrRefused) {
  const std::string inner = R"("text_config": {"model_type": "gemma3_text", "num_hidden_layers": 12})";
  EXPECT_EQ(hugging_face_model(R"({"model_type": "gemma3", "image_token_index": 5, )" + inner + "}").layers, 12);
  EXPECT_EQ(
      said_of(R"({"model_type": "gemma3", "vision_config": {"hidden_size": 5}, )" + inner + "}"),
      "folder/config.json:1:26: vision_config: found a model of another kind of input beside the text model, which "
      "is not built; expected text_config alone");
}

TEST(HuggingFaceConfig, SaysWhichLayersSeeAWindow) {
  const auto types = [](const std::string& words) {
    return R"({"model_type": "gpt_oss", "num_hidden_layers": 4, "layer_types": [)" + words + "]}";
  };
  const std::string both = R"("sliding_attention", "full_attention")";
  const schedules::Model model = hugging_face_model(types(both + ", " + both));
  EXPECT_EQ(model.variations.window, 128);
  EXPECT_EQ(model.variations.full_attention_every, 2);
  EXPECT_EQ(
      said_of(types(both + R"(, "full_attention", "full_attention")")),
      "folder/config.json:1:106: layer_types: found 'full_attention' of layer 2, expected sliding_attention: other "
      "orders of layers are not built");
  EXPECT_EQ(said_of(types(both)),
            "folder/config.json:1:66: layer_types: found a list, expected a list with a word for each of 4 layers");
  const std::string qwen = R"({"model_type": "qwen2", "num_hidden_layers": 4, "sliding_window": 64)";
  EXPECT_EQ(hugging_face_model(qwen + "}").variations.window, 0);
  EXPECT_EQ(hugging_face_model(qwen + R"(, "use_sliding_window": true, "max_window_layers": 0})").variations.window,
            64);
  EXPECT_EQ(said_of(qwen + R"(, "use_sliding_window": true, "max_window_layers": 2})"),
            "folder/config.json:1:120: max_window_layers: found 2 first layers without a window, expected 0 or all of "
            "num_hidden_layers");
}

TEST(HuggingFaceConfig, SaysWhichLayersHaveExperts) {
  const auto llama4 = [](const std::string& more) {
    return R"({"model_type": "llama4_text", "num_hidden_layers": 4, "interleave_moe_layer_step": 2)" + more + "}";
  };
  const schedules::Model model =
      hugging_face_model(llama4(R"(, "moe_layers": [1, 3], "no_rope_layers": [1, 1, 1, 0])"));
  EXPECT_FALSE(schedules::has_experts(model, 0));
  EXPECT_TRUE(schedules::has_experts(model, 1));
  EXPECT_EQ(schedules::expert_layers(model), 2);
  EXPECT_EQ(model.variations.window, 8192);
  EXPECT_EQ(
      said_of(llama4(R"(, "moe_layers": [1, 2])")),
      "folder/config.json:1:105: moe_layers: found layer '2', expected 3, as interleave_moe_layer_step 2 says: other "
      "orders of layers are not built");
  EXPECT_NE(said_of(llama4(R"(, "moe_layers": [1])")).find("without layer 3"), std::string::npos);
  const schedules::Model qwen = hugging_face_model(
      R"({"model_type": "qwen3_moe", "num_hidden_layers": 6, "decoder_sparse_step": 2, "mlp_only_layers": [0, 1]})");
  EXPECT_EQ(schedules::expert_layers(qwen), 2);
}

TEST(HuggingFaceConfig, OfMptIsLookedIntoItsNestedFields) {
  const auto mpt = [](const std::string& attention) {
    return R"({"model_type": "mpt", "d_model": 4096, "n_heads": 32, "n_layers": 32, "vocab_size": 50432, "attn_config": )" +
           attention + "}";
  };
  // The embedding, and in each layer two norms, 4 h^2 of attention and 8 h^2 of the feed-forward block; a last norm.
  const double h = 4096;
  EXPECT_EQ(parameters_of(hugging_face_model(mpt(R"({"alibi": true, "attn_impl": "torch"})"))),
            50432 * h + 32 * (12 * h * h + 2 * h) + h);
  EXPECT_NE(said_of(mpt(R"({"kv_n_heads": 8})")).find("attn_config.kv_n_heads: found a field of which"),
            std::string::npos);
  EXPECT_NE(said_of(mpt(R"({"qk_ln": true})")).find("attn_config.qk_ln: found 'true', expected false"),
            std::string::npos);
}

}  // namespace
}  // namespace stepcast::language
