#include "language/hugging_face/decoder_fields.h"

#include <algorithm>
#include <string>

namespace stepcast::language {
void expect_each_layer(Translation& t, std::string_view field,
                       const std::function<std::string(std::int64_t layer)>& word) {
  const std::span<const Node> words = t.items(field);
  if (words.empty()) return;
  const std::int64_t layers = t.whole("num_hidden_layers");
  if (static_cast<std::int64_t>(words.size()) != layers)
    t.refuse(field, "found a list of " + std::to_string(words.size()) + ", expected a word for each of " +
                        std::to_string(layers) + " layers");
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    const Node& item = words[static_cast<std::size_t>(layer)];
    if (item.scalar != word(layer))
      t.refuse_at(item.place, field,
                  "found " + found(item) + " of layer " + std::to_string(layer) + ", expected " + word(layer) +
                      ": other orders of layers are not built");
  }
}

std::int64_t full_layers(Translation& t, std::string_view windowed) {
  const std::span<const Node> words = t.items("layer_types");
  if (words.empty()) return 0;
  const auto first = std::ranges::find(words, "full_attention", &Node::scalar);
  const std::int64_t every = first == words.end() ? 0 : first - words.begin() + 1;
  expect_each_layer(t, "layer_types", [&](std::int64_t layer) {
    return std::string(every > 0 && (layer + 1) % every == 0 ? "full_attention" : windowed);
  });
  return every;
}

void say_sizes(Translation& t) {
  t.copy("layers", "num_hidden_layers");
  t.copy("hidden", "hidden_size");
  t.copy("heads", "num_attention_heads");
  if (t.find("num_key_value_heads") != nullptr) t.copy("kv_heads", "num_key_value_heads");
  if (t.find("head_dim") != nullptr) t.copy("head_width", "head_dim");
  t.copy("vocab", "vocab_size");
}

void say_gated_activation(Translation& t, std::string_view field) {
  const std::size_t word =
      t.one_of(field, {"silu", "swish", "gelu", "gelu_new", "gelu_fast", "gelu_pytorch_tanh", "quick_gelu"});
  t.say("activation", word < 2 ? "swiglu" : "geglu", field);
}

void say_plain_activation(Translation& t, std::string_view field) {
  const std::size_t word =
      t.one_of(field, {"relu", "gelu", "gelu_new", "gelu_fast", "gelu_pytorch_tanh", "gelu_python", "quick_gelu"});
  t.say("activation", word < 1 ? "relu" : "gelu", field);
}

void say_dropout(Translation& t, std::initializer_list<std::string_view> rates) {
  std::string_view some;
  for (const std::string_view rate : rates)
    if (t.find(rate) != nullptr && t.number(rate) > 0) some = rate;
  if (some.empty())
    t.say("dropout", "false", *rates.begin());
  else
    t.say("dropout", "true", some);
}

void say_biases(Translation& t, bool attention, bool feed_forward, std::string_view field) {
  t.say("biases",
        attention && feed_forward ? "true"
        : attention               ? "attention"
        : feed_forward            ? "feed-forward"
                                  : "false",
        field);
}

void say_window(Translation& t, std::int64_t usual_every) {
  const bool used = !t.knows("use_sliding_window") || t.flag("use_sliding_window");
  const Node* const window = t.find("sliding_window");
  const Node* const first = t.knows("max_window_layers") ? t.find("max_window_layers") : nullptr;
  const Node* const pattern = t.knows("sliding_window_pattern") ? t.find("sliding_window_pattern") : nullptr;
  const Node* const layer_types = t.knows("layer_types") ? t.find("layer_types") : nullptr;
  std::int64_t every = usual_every;
  if (pattern != nullptr) every = t.whole("sliding_window_pattern");
  if (layer_types != nullptr) every = full_layers(t, "sliding_attention");
  if (!used || window == nullptr || every == 1) return;
  if (layer_types == nullptr && first != nullptr) {
    const std::int64_t full = t.whole("max_window_layers", 0);
    if (full >= t.whole("num_hidden_layers")) return;
    if (full > 0)
      t.refuse("max_window_layers", "found " + std::to_string(full) +
                                        " first layers without a window, expected 0 or all of num_hidden_layers");
  }
  t.copy("window", "sliding_window");
  if (every > 0)
    t.say("full_attention_every", std::to_string(every), layer_types != nullptr ? "layer_types" : "sliding_window");
}

void say_tied_head(Translation& t) {
  t.say("tied_head", t.flag("tie_word_embeddings") ? "true" : "false", "tie_word_embeddings");
}

void say_llama_sizes(Translation& t) {
  t.say("family", "llama");
  say_sizes(t);
  t.copy("ffn", "intermediate_size");
  say_gated_activation(t, t.knows("hidden_activation") ? "hidden_activation" : "hidden_act");
  say_tied_head(t);
}

void say_llama(Translation& t) {
  say_llama_sizes(t);
  const bool attention = t.knows("attention_bias") && t.flag("attention_bias");
  const bool feed_forward = t.knows("mlp_bias") && t.flag("mlp_bias");
  if (attention || feed_forward) say_biases(t, attention, feed_forward, attention ? "attention_bias" : "mlp_bias");
  say_dropout(t, {"attention_dropout"});
}

}  // namespace stepcast::language
