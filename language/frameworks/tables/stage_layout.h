#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "language/frameworks/words.h"

namespace stepcast::language {

/// Megatron-LM's --pipeline-model-parallel-layout of layers of each chunk, "[3, 4, 4, 3]": "Et*3|t*4|t*4|t*3,L" (E the
/// embedding, t a layer, m one of multi-token prediction, L the head;
/// megatron/core/transformer/pipeline_parallel_layer_layout.py). Those past the words' model.layers are m; where
/// `layers` does not count the m, they stand before the head.
std::string stage_layout(const Words& words, const std::string& layers);

/// The other way round, of the word `key`; the m are counted unless all of them are in the last chunk. Throws
/// InputError for other layers, for other places of E, m and L, and for another number of m than model.mtp_layers.
std::string layers_of_layout(const Words& words, std::string_view key);

/// Layers of each chunk where the words `first` and `last` say those of the first and of the last stage, and the
/// others share the rest equally. Throws InputError where they cannot.
std::string layers_beside(const Words& words, std::string_view first, std::string_view last, std::int64_t pipeline,
                          std::int64_t chunks);

}  // namespace stepcast::language
