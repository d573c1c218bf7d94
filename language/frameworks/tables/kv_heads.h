#pragma once

#include "language/frameworks/framework.h"
#include "language/frameworks/words.h"

namespace stepcast::language {

/// Whether several tensor ranks may hold one key and value head.
enum class SharedKvHeads : bool { refused, allowed };

/// Throws InputError where the tensor ranks do not divide the model's key and value heads, nor share them in equal
/// parts where that is allowed. Asked before the words are spelled. Sources: num_query_groups in __post_init__() of
/// megatron/core/transformer/transformer_config.py: a multiple of the tensor ranks in core_v0.14.0, a multiple or a
/// divisor in @3758b54, which Megatron Bridge builds on; nanotron asserts the multiple (src/nanotron/models/llama.py).
void check_kv_heads(const Words& words, const Framework& framework, SharedKvHeads shared);

}  // namespace stepcast::language
