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
  const std::string hybrid = said_of(R"({"architectures": ["Zamba2ForCausalLM"], "model_type": "zamba2"})");
  EXPECT_EQ(hybrid.substr(0, 79), "folder/config.json:1:56: model_type: found 'zamba2', expected one of llama, mis");
  EXPECT_EQ(said_of(R"({"model_type": "qwen2x"})").find("folder/config.json:1:16: model_type: found 'qwen2x'"), 0U);
  EXPECT_NE(said_of(R"({"model_type": "qwen2x"})").find("did you mean 'qwen2"), std::string::npos);
  EXPECT_EQ(said_of(R"({"architectures": ["MambaForCausalLM"]})").substr(0, 78),
            "folder/config.json:1:20: architectures: found 'MambaForCausalLM', expected one");
  EXPECT_EQ(said_of(R"({"architectures": ["LlamaForSequenceClassification"], "model_type": "llama"})").substr(0, 84),
            "folder/config.json:1:20: architectures: found 'LlamaForSequenceClassification', expe");
  EXPECT_EQ(said_of(R"({"architectures": "LlamaModel", "model_type": "llama"})").find("folder/config.json:1:19: archi"),
            0U);
  EXPECT_EQ(said_of(R"({"model_type": ["llama"]})").find("folder/config.json:1:16: model_type: found a list"), 0U);
  EXPECT_EQ(said_of("{}").substr(0, 51), "folder/config.json:1:1: model_type: missing, expect");
}

std::string source_of(const std::string& config) {
  return read_hugging_face_config(config, "folder/config.json").find("source")->scalar;
}

TEST(HuggingFaceConfig, OfSeveralKindsOfInputIsItsTextModel) {
  const std::string inner = R"("text_config": {"model_type": "gemma3_text", "num_hidden_layers": 12})";
  EXPECT_EQ(hugging_face_model(R"({"model_type": "gemma3", "image_token_index": 5, )" + inner + "}").layers, 12);
  const std::string with_images = R"({"model_type": "gemma3", "architectures": ["Gemma3ForConditionalGeneration"],
    "vision_config": {"hidden_size": 5}, "boi_token_index": 9, "mm_tokens_per_image": 256, )" +
                                  inner + "}";
  EXPECT_EQ(hugging_face_model(with_images).layers, 12);
  const std::string inside =
      R"({"vision_config": {}, "text_config": {"model_type": "gemma", "num_image_tokens": 256}})";  // as PaliGemma
  EXPECT_NE(source_of(inside).find("Left out with them: text_config.num_image_tokens."), std::string::npos);
  EXPECT_EQ(source_of(with_images).substr(0, 245),
            "Hugging Face configuration of model_type gemma3_text. Of the text model alone, text_config, without the "
            "parameters, memory and time of vision_config and of what joins them to it. Left out with them: "
            "boi_token_index, mm_tokens_per_image. Left out");
}

TEST(HuggingFaceConfig, OfSeveralKindsOfInputMayHaveTheTextModelAtItsTop) {
  // Qwen2.5-VL-7B's text model has the shape of Qwen2.5-7B.
  const std::string config = R"({"architectures": ["Qwen2_5_VLForConditionalGeneration"], "model_type": "qwen2_5_vl",
    "vocab_size": 152064, "hidden_size": 3584, "intermediate_size": 18944, "num_hidden_layers": 28,
    "num_attention_heads": 28, "num_key_value_heads": 4, "vision_start_token_id": 151652, "image_token_id": 151655,
    "vision_config": {"depth": 32, "hidden_size": 1280, "model_type": "qwen2_5_vl"}})";
  EXPECT_EQ(parameters_of(hugging_face_model(config)), 7615616512.0);
  EXPECT_NE(source_of(config).find("Of the text model alone, without the parameters, memory and time of vision_config"),
            std::string::npos);
  EXPECT_NE(source_of(config).find("Left out with them: vision_start_token_id, image_token_id."), std::string::npos);
}

TEST(HuggingFaceConfig, TakesFromTheTopWhatHoldsForTheTextModel) {
  const auto config = [](const std::string& top, const std::string& text) {
    return R"({"model_type": "qwen3_vl", "vision_config": {"depth": 27}, )" + top +
           R"("text_config": {"model_type": "qwen3_vl_text")" + text + "}}";
  };
  EXPECT_FALSE(tied_embeddings(hugging_face_model(config("", ""))));
  EXPECT_TRUE(tied_embeddings(hugging_face_model(config(R"("tie_word_embeddings": true, )", ""))));
  EXPECT_FALSE(tied_embeddings(
      hugging_face_model(config(R"("tie_word_embeddings": true, )", R"(, "tie_word_embeddings": false)"))));
}

TEST(HuggingFaceConfig, OfSeveralKindsOfInputIsRefusedWhereTheTextModelIsNotPlain) {
  const std::string inner = R"("text_config": {"model_type": "llama"})";
  EXPECT_EQ(
      said_of(R"({"hidden_size": 512, "vision_config": {}, )" + inner + "}"),
      "folder/config.json:1:2: hidden_size: found at the top, where a text model does not look for it, expected it "
      "in text_config");
  EXPECT_EQ(said_of(R"({"architectures": ["LlavaForSequenceClassification"], "vision_config": {}, )" + inner + "}"),
            "folder/config.json:1:20: architectures: found 'LlavaForSequenceClassification', expected one that writes "
            "text: ...ForConditionalGeneration or ...ForCausalLM");
  EXPECT_EQ(said_of(R"({"vision_config": {}, "text_config": {"model_type": "mllama_text_model"}})").substr(0, 84),
            "folder/config.json:1:53: text_config.model_type: found 'mllama_text_model', expected");
  EXPECT_EQ(said_of(R"({"text_config": ["llama"]})"),
            "folder/config.json:1:17: text_config: found a list, expected a mapping");
}

TEST(HuggingFaceConfig, MayHaveTheNumbersThatPythonWritesAndJsonHasNot) {
  EXPECT_EQ(said_of(small_llama(R"(, "top_p": Infinity, "temperature": -Infinity, "top_k": NaN)")), "");
  EXPECT_EQ(said_of(R"({"model_type": "mamba2", "time_step_limit": [0.0, Infinity]})")
                .find("folder/config.json:1:16: model_type: found 'mamba2'"),
            0U);
  EXPECT_NE(said_of(R"({"model_type": infinity})").find("found no JSON"), std::string::npos);
}

TEST(HuggingFaceConfig, DoesNotPassOverAWordWhereAListStands) {
  EXPECT_EQ(said_of(R"({"model_type": "qwen3_moe", "mlp_only_layers": 4})"),
            "folder/config.json:1:48: mlp_only_layers: found '4', expected a list");
  EXPECT_EQ(said_of(R"({"model_type": "gpt_oss", "layer_types": "full_attention"})"),
            "folder/config.json:1:42: layer_types: found 'full_attention', expected a list");
  EXPECT_EQ(said_of(R"({"model_type": "minimax_m2", "attn_type_list": {"0": 1}})"),
            "folder/config.json:1:48: attn_type_list: found a mapping, expected a list");
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
            "folder/config.json:1:66: layer_types: found a list of 2, expected a word for each of 4 layers");
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
  EXPECT_EQ(schedules::halves(model, 0).feed_forward, schedules::FeedForward::dense);
  EXPECT_EQ(schedules::halves(model, 1).feed_forward, schedules::FeedForward::experts);
  EXPECT_EQ(schedules::layers_with(model, schedules::FeedForward::experts), 2);
  EXPECT_EQ(model.variations.window, 8192);
  EXPECT_EQ(
      said_of(llama4(R"(, "moe_layers": [1, 2])")),
      "folder/config.json:1:105: moe_layers: found layer '2', expected 3, as interleave_moe_layer_step 2 says: other "
      "orders of layers are not built");
  EXPECT_NE(said_of(llama4(R"(, "moe_layers": [1])")).find("without layer 3"), std::string::npos);
  const schedules::Model qwen = hugging_face_model(
      R"({"model_type": "qwen3_moe", "num_hidden_layers": 6, "decoder_sparse_step": 2, "mlp_only_layers": [0, 1]})");
  EXPECT_EQ(schedules::layers_with(qwen, schedules::FeedForward::experts), 2);
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

// EleutherAI/gpt-neo-125m and XiaomiMiMo/MiMo-7B-Base; the Hub shows 0.1B (125,198,592 by its tensors) and 7.83B.
TEST(HuggingFaceConfig, OfGptNeoAndMiMoHaveTheirParameters) {
  const schedules::Model neo = hugging_face_model(
      R"({"architectures": ["GPTNeoForCausalLM"], "model_type": "gpt_neo", "hidden_size": 768, "num_layers": 12,
          "num_heads": 12, "attention_types": [[["global", "local"], 6]], "window_size": 256})");
  EXPECT_NEAR(parameters_of(neo) / 125'198'592, 1, 0.0003);
  const schedules::Model mimo = hugging_face_model(
      R"({"architectures": ["MiMoForCausalLM"], "model_type": "mimo", "vocab_size": 151680, "hidden_size": 4096,
          "intermediate_size": 11008, "num_hidden_layers": 36, "num_attention_heads": 32, "num_key_value_heads": 8,
          "head_dim": 128, "attention_bias": true, "num_nextn_predict_layers": 1})");
  EXPECT_EQ(mimo.mtp_layers, 1);
  EXPECT_NEAR(parameters_of(mimo), 7.83e9, 0.005e9);
}

TEST(HuggingFaceConfig, OfTypesThatAreNotBuiltSayWhatIsMissing) {
  for (const auto& [type, why] : {std::pair{"deepseek_v32", "sparse attention"},
                                  {"glm_moe_dsa", "sparse attention"},
                                  {"deepseek_v4", "several residual streams"},
                                  {"gemma4_text", "two head widths"},
                                  {"kimi_linear", "Kimi Delta Attention"},
                                  {"nemotron-nas", "block_configs"}}) {
    const std::string config = R"({"model_type": ")" + std::string(type) + R"("})";
    const std::string said = complaint([&] { hugging_face_model(config); });
    EXPECT_NE(said.find(std::string("model_type: found '") + type + "', which has "), std::string::npos) << said;
    EXPECT_NE(said.find(why), std::string::npos) << said;
  }
}

}  // namespace
}  // namespace stepcast::language
