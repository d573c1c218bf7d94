#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>

#include "language/hugging_face/translation.h"

namespace stepcast::language {

/// Parts that the configurations of many decoders share, by the names of Llama's fields.

/// layers, hidden, heads, kv_heads, head_width and vocab.
void say_sizes(Translation& t);
/// A gated activation (SwiGLU or GeGLU) or a plain one (GELU or ReLU).
void say_gated_activation(Translation& t, std::string_view field);
void say_plain_activation(Translation& t, std::string_view field);
/// Whether any of these rates is above zero.
void say_dropout(Translation& t, std::initializer_list<std::string_view> rates);
/// Of attention's linear layers, and of the feed-forward block's.
void say_biases(Translation& t, bool attention, bool feed_forward, std::string_view field);
/// Throws InputError unless a field that lists a word for each layer (0 is the first) is left out or says these.
void expect_each_layer(Translation& t, std::string_view field,
                       const std::function<std::string(std::int64_t layer)>& word);
/// How many layers apart those are that `layer_types` says see all tokens; 0: none does. Throws InputError where they
/// are not in equal distances, or the others are not `windowed`.
std::int64_t full_layers(Translation& t, std::string_view windowed);
/// The sliding window and the layers without one: by `layer_types`, else each `usual_every`-th (0: none).
void say_window(Translation& t, std::int64_t usual_every);
/// Whether the head is the embedding's matrix.
void say_tied_head(Translation& t);
/// All of Llama's but biases and dropout.
void say_llama_sizes(Translation& t);
/// All of Llama's.
void say_llama(Translation& t);

}  // namespace stepcast::language
