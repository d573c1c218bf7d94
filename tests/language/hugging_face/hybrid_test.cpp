// Decoders that have attention in some of their layers alone.

#include <gtest/gtest.h>

#include "tests/language/hugging_face/models.h"

namespace stepcast::language {
namespace {

using schedules::FeedForward;
using schedules::Mixer;

std::string refusal(const std::string& config) {
  return complaint([&] { hugging_face_model(config); });
}

TEST(HuggingFaceHybrids, NemotronsLettersAreLayers) {
  const schedules::Model model = hugging_face_model(
      R"({"model_type": "nemotron_h", "num_hidden_layers": 4, "hybrid_override_pattern": "M-M*", "n_groups": 4})");
  EXPECT_EQ(text_of_pattern(model.variations.pattern), "M-M*");
  EXPECT_EQ(model.mamba.heads, 128);
  EXPECT_EQ(model.mamba.groups, 4);
  EXPECT_EQ(model.mamba.chunk, 128);
  EXPECT_EQ(model.family, schedules::Family::llama);
  EXPECT_EQ(layer_style(model).activation, schedules::Activation::squared_relu);
  EXPECT_EQ(layer_style(model).positions, schedules::Positions::none);
}

TEST(HuggingFaceHybrids, NemotronsExpertsMayBeOfAWidthOfTheirOwn) {
  const schedules::Model model = hugging_face_model(
      R"({"model_type": "nemotron_h", "num_hidden_layers": 3, "hybrid_override_pattern": "ME*", "hidden_size": 4096,
          "n_routed_experts": 512, "num_experts_per_tok": 22, "moe_intermediate_size": 2688, "moe_latent_size": 1024,
          "moe_shared_expert_intermediate_size": 5376, "num_nextn_predict_layers": 1})");
  EXPECT_EQ(model.experts.latent, 1024);
  EXPECT_EQ(model.experts.shared_ffn, 5376);
  EXPECT_EQ(model.mtp_layers, 1);
  EXPECT_EQ(mtp_halves(model), (schedules::LayerHalves{Mixer::attention, FeedForward::experts}));
  EXPECT_EQ(routed_parameters(model), 512.0 * 2 * 1024 * 2688);
}

TEST(HuggingFaceHybrids, WhatTheirLayersAreNotIsRefused) {
  EXPECT_NE(refusal(R"({"model_type": "nemotron_h", "num_hidden_layers": 4, "hybrid_override_pattern": "M-MX"})")
                .find("hybrid_override_pattern: found 'M-MX', expected letters M, *, - and E"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"model_type": "nemotron_h", "num_hidden_layers": 5, "hybrid_override_pattern": "M-M*"})")
                .find("hybrid_override_pattern: found 4 letters, expected one for each of 5 layers"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"model_type": "nemotron_h", "mamba_proj_bias": true})").find("mamba_proj_bias: found 'true'"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"model_type": "granitemoehybrid", "num_hidden_layers": 2, "layer_types": ["mamba", "rwkv"]})")
                .find("layer_types: found 'rwkv', expected mamba or attention"),
            std::string::npos);
}

TEST(HuggingFaceHybrids, Qwen3NextHasAttentionInEveryFourthLayer) {
  const schedules::Model model = hugging_face_model(R"({"model_type": "qwen3_next"})");
  EXPECT_EQ(text_of_pattern(model.variations.pattern), "(GE)(GE)(GE)(*E)");
  EXPECT_EQ(layers_with(model, Mixer::delta_net), 36);
  EXPECT_EQ(layers_with(hugging_face_model(R"({"model_type": "qwen3_next", "full_attention_interval": 5})"),
                        Mixer::attention),
            9);
  EXPECT_NE(refusal(R"({"model_type": "qwen3_next", "full_attention_interval": 2000000000})")
                .find("full_attention_interval: found 2000000000, expected at most the 48 layers"),
            std::string::npos);
  EXPECT_TRUE(model.variations.attention_gate);
  EXPECT_EQ(model.delta_net.heads, 32);
  EXPECT_EQ(model.delta_net.key_heads, 16);
  EXPECT_NEAR(parameters_of(model), 79.67e9, 0.01e9);  // without the layer of multi-token prediction that is stored too
}

// Sizes of Qwen/Qwen3.5-27B and Qwen3.5-35B-A3B; their text models have 26.90 and 34.66 billion parameters, as
// llama.cpp counts those that it loads.
TEST(HuggingFaceHybrids, Qwen35IsDenseOrOfExperts) {
  const schedules::Model dense = hugging_face_model(
      R"({"architectures": ["Qwen3_5ForConditionalGeneration"], "model_type": "qwen3_5",
          "vision_config": {"model_type": "qwen3_5"},
          "text_config": {"model_type": "qwen3_5_text", "hidden_size": 5120, "intermediate_size": 17408,
                          "num_hidden_layers": 64, "num_attention_heads": 24, "linear_num_value_heads": 48,
                          "attn_output_gate": true, "mtp_num_hidden_layers": 1, "mamba_ssm_dtype": "float32"}})");
  EXPECT_EQ(text_of_pattern(dense.variations.pattern), "(G-)(G-)(G-)(*-)");
  EXPECT_EQ(dense.family, schedules::Family::llama);
  EXPECT_TRUE(dense.variations.attention_gate);
  EXPECT_NEAR(parameters_of(dense), 26.90e9, 0.01e9);
  const schedules::Model experts =
      hugging_face_model(R"({"model_type": "qwen3_5_moe_text", "layer_types": null, "mlp_only_layers": []})");
  EXPECT_EQ(text_of_pattern(experts.variations.pattern), "(GE)(GE)(GE)(*E)");
  EXPECT_EQ(experts.experts.shared_ffn, 512);
  EXPECT_NEAR(parameters_of(experts), 34.66e9, 0.01e9);
}

TEST(HuggingFaceHybrids, NemotronsLayersMayBeWords) {
  const auto words = [](const std::string& list) {
    return hugging_face_model(R"({"model_type": "nemotron_h", "n_routed_experts": 8, "layers_block_type": )" + list +
                              R"(, "mtp_layers_block_type": ["attention", "moe"], "num_nextn_predict_layers": 1})");
  };
  const schedules::Model model = words(R"(["mamba", "moe", "attention", "mlp"])");
  EXPECT_EQ(text_of_pattern(model.variations.pattern), "ME*-");
  EXPECT_EQ(model.layers, 4);
  EXPECT_EQ(model.mtp_layers, 1);
  EXPECT_EQ(text_of_pattern(words(R"(["linear_attention", "moe", "full_attention"])").variations.pattern), "ME*");
  EXPECT_NE(refusal(R"({"model_type": "nemotron_h", "num_hidden_layers": 4, "layers_block_type": ["mamba", "mlp"]})")
                .find("num_hidden_layers: found 4, expected the 2 layers that layers_block_type names"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"model_type": "nemotron_h", "layers_block_type": ["rwkv"]})")
                .find("layers_block_type: found 'rwkv', expected mamba, attention, moe or mlp"),
            std::string::npos);
}

TEST(HuggingFaceHybrids, GraniteSaysLayerByLayer) {
  const schedules::Model dense = hugging_face_model(
      R"({"model_type": "granitemoehybrid", "num_hidden_layers": 3, "layer_types": ["mamba", "attention", "mamba"],
          "num_local_experts": 0, "shared_intermediate_size": 8192})");
  EXPECT_EQ(text_of_pattern(dense.variations.pattern), "(M-)(*-)(M-)");
  EXPECT_EQ(dense.ffn, 8192);
  EXPECT_EQ(dense.mamba.head, 64);  // twice 4096 over 128 heads
  EXPECT_EQ(layer_style(dense).positions, schedules::Positions::none);
  const schedules::Model mixture = hugging_face_model(R"({"model_type": "granitemoehybrid"})");
  EXPECT_EQ(text_of_pattern(mixture.variations.pattern), "(ME)");
  EXPECT_EQ(mixture.experts.shared_ffn, 1024);
}

}  // namespace
}  // namespace stepcast::language
