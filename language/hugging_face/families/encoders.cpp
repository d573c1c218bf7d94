// Encoders, and an encoder with a decoder.

#include <array>
#include <string>

#include "language/hugging_face/decoder_fields.h"

namespace stepcast::language {
namespace {

using F = ConfigField;
using Word = std::string_view;

constexpr std::array kBertModels{Word("BertForMaskedLM"), Word("BertForPreTraining")};
constexpr std::array kRobertaModels{Word("RobertaForMaskedLM")};
/// What BERT and those made of it have; their classes differ in the vocabulary alone.
constexpr auto bert_fields(Word vocabulary) {
  return std::array{F{"architectures", kNull},
                    F{"vocab_size", vocabulary},
                    F{"hidden_size", "768"},
                    F{"num_hidden_layers", "12"},
                    F{"num_attention_heads", "12"},
                    F{"intermediate_size", "3072"},
                    F{"hidden_act", "gelu"},
                    F{"hidden_dropout_prob", "0.1"},
                    F{"attention_probs_dropout_prob", "0.1"},
                    F{"max_position_embeddings", "512"},
                    F{"type_vocab_size", "2"},
                    F{"position_embedding_type", "absolute"},
                    F{"is_decoder", "false"},
                    F{"tie_word_embeddings", "true"}};
}
constexpr std::array kBertFields = bert_fields("30522"), kRobertaFields = bert_fields("50265");
constexpr std::array kXlmRobertaModels{Word("XLMRobertaForMaskedLM")};
constexpr std::array kBertIdle{Word("classifier_dropout"),   Word("directionality"),
                               Word("pooler_fc_size"),       Word("pooler_num_attention_heads"),
                               Word("pooler_num_fc_layers"), Word("pooler_size_per_head"),
                               Word("pooler_type")};

constexpr std::array kT5Models{Word("T5ForConditionalGeneration"), Word("T5WithLMHeadModel")};
constexpr std::array kT5Fields{F{"vocab_size", "32128"},
                               F{"d_model", "512"},
                               F{"d_kv", "64"},
                               F{"d_ff", "2048"},
                               F{"num_layers", "6"},
                               F{"num_decoder_layers", kNull},
                               F{"num_heads", "8"},
                               F{"relative_attention_num_buckets", "32"},
                               F{"dropout_rate", "0.1"},
                               F{"feed_forward_proj", "relu"},
                               F{"tie_word_embeddings", "true"}};
constexpr std::array kMt5Models{Word("MT5ForConditionalGeneration")};
constexpr std::array kMt5Fields{F{"vocab_size", "250112"},
                                F{"d_model", "512"},
                                F{"d_kv", "64"},
                                F{"d_ff", "1024"},
                                F{"num_layers", "8"},
                                F{"num_decoder_layers", kNull},
                                F{"num_heads", "6"},
                                F{"relative_attention_num_buckets", "32"},
                                F{"dropout_rate", "0.1"},
                                F{"feed_forward_proj", "gated-gelu"},
                                F{"tie_word_embeddings", "false"}};
// The second is the first or last word of feed_forward_proj again.
constexpr std::array kT5Idle{Word("relative_attention_max_distance"), Word("dense_act_fn"), Word("is_gated_act"),
                             Word("n_positions"), Word("classifier_dropout")};

constexpr std::array kVitModels{Word("ViTForImageClassification")};
constexpr std::array kVitFields{F{"hidden_size", "768"},
                                F{"num_hidden_layers", "12"},
                                F{"num_attention_heads", "12"},
                                F{"intermediate_size", "3072"},
                                F{"hidden_act", "gelu"},
                                F{"hidden_dropout_prob", "0.0"},
                                F{"attention_probs_dropout_prob", "0.0"},
                                F{"image_size", "224"},
                                F{"patch_size", "16"},
                                F{"num_channels", "3"},
                                F{"qkv_bias", "true"},
                                F{"num_labels", kNull},
                                F{"id2label", kNull}};
constexpr std::array kVitIdle{Word("encoder_stride"), Word("pooler_act"), Word("pooler_output_size")};

/// The family has GELU alone.
void expect_gelu(Translation& t) {
  t.one_of("hidden_act", {"gelu", "gelu_new", "gelu_fast", "gelu_pytorch_tanh", "gelu_python", "quick_gelu"});
}

/// Pooler and next sentence are there where the architecture trains them.
void say_bert(Translation& t) {
  t.say("family", "bert");
  t.copy("layers", "num_hidden_layers");
  t.copy("hidden", "hidden_size");
  t.copy("heads", "num_attention_heads");
  t.copy("ffn", "intermediate_size");
  t.copy("vocab", "vocab_size");
  t.copy("positions", "max_position_embeddings");
  t.copy("segments", "type_vocab_size", 0);
  const Node* const architectures = t.find("architectures");
  const bool pretraining = architectures == nullptr || architectures->items.empty() ||
                           architectures->items[0].scalar == "BertForPreTraining";
  t.say("next_sentence", pretraining ? "true" : "false", "architectures");
  expect_gelu(t);
  for (const Word rate : {"hidden_dropout_prob", "attention_probs_dropout_prob"})
    if (t.number(rate) == 0) t.refuse(rate, "found 0, expected a rate above it, or software.dropout false with it");
  t.expect("position_embedding_type", "absolute", "a vector for each place");
  t.expect("is_decoder", "false", "it is an encoder");
  t.expect("tie_word_embeddings", "true", "its head is the embedding's matrix");
}

void say_roberta(Translation& t) {
  say_bert(t);
  t.say("next_sentence", "false");
}

/// An ungated block goes with a tied head, a gated one with a head of its own: T5 and T5 1.1.
void say_t5(Translation& t) {
  t.say("family", "t5");
  t.copy("layers", "num_layers");
  if (t.find("num_decoder_layers") != nullptr) t.copy("decoder_layers", "num_decoder_layers");
  t.copy("hidden", "d_model");
  t.copy("heads", "num_heads");
  t.copy("head_width", "d_kv");
  t.copy("ffn", "d_ff");
  t.copy("vocab", "vocab_size");
  const bool gated = t.one_of("feed_forward_proj", {"relu", "gated-gelu"}) == 1;
  t.say("gated", gated ? "true" : "false", "feed_forward_proj");
  t.expect("tie_word_embeddings", gated ? "false" : "true",
           "a head of its own goes with feed_forward_proj gated-gelu, and the embedding's with relu");
  t.expect("relative_attention_num_buckets", "32", "as many relative positions are built");
  if (t.number("dropout_rate") == 0)
    t.refuse("dropout_rate", "found 0, expected a rate above it, or software.dropout false with it");
}

void say_vit(Translation& t) {
  t.say("family", "vit");
  t.copy("layers", "num_hidden_layers");
  t.copy("hidden", "hidden_size");
  t.copy("heads", "num_attention_heads");
  t.copy("ffn", "intermediate_size");
  t.copy("patch", "patch_size");
  t.copy("image.size", "image_size");
  t.copy("image.channels", "num_channels");
  // Classes are counted by their labels; a configuration without any has two (PretrainedConfig.num_labels).
  const Node* const labels = t.find("id2label");
  if (t.find("num_labels") != nullptr)
    t.copy("classes", "num_labels");
  else
    t.say("classes", std::to_string(labels == nullptr ? 2 : labels->entries.size()), "id2label");
  expect_gelu(t);
  for (const Word rate : {"hidden_dropout_prob", "attention_probs_dropout_prob"})
    t.expect(rate, "0", "dropout in this family is not built");
  t.expect("qkv_bias", "true", "all its linear layers have biases");
}

constexpr ModelType kEncoderTypes[] = {
    {"bert", kBertModels, "BertConfig", kBertFields, kBertIdle, say_bert},
    {"roberta", kRobertaModels, "RobertaConfig", kRobertaFields, kBertIdle, say_roberta},
    {"xlm-roberta", kXlmRobertaModels, "XLMRobertaConfig", kBertFields, kBertIdle, say_roberta},
    {"t5", kT5Models, "T5Config", kT5Fields, kT5Idle, say_t5},
    {"mt5", kMt5Models, "MT5Config", kMt5Fields, kT5Idle, say_t5},
    {"vit", kVitModels, "ViTConfig", kVitFields, kVitIdle, say_vit},
};

}  // namespace

extern const std::span<const ModelType> encoder_types;
const std::span<const ModelType> encoder_types = kEncoderTypes;

}  // namespace stepcast::language
