#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "language/frameworks/words.h"

namespace stepcast::language {

/// A model of torchtitan's by its two names, and the file of configs/models/ that has its shape.
struct Flavor {
  std::string_view model, flavor, config;
  /// layers, hidden, heads, kv_heads, head_width, ffn, vocab; kv_heads and head_width 0: latent attention.
  std::int64_t layers, hidden, heads, kv_heads, head_width, ffn, vocab;
  bool tied = false, qk_norm = false;
  std::int64_t experts = 0, active = 0, expert_ffn = 0, shared_ffn = 0, dense_layers = 0;
  std::int64_t query_rank = 0;
};

/// Those of torchtitan/models/{llama3,qwen3,deepseek_v3}/__init__.py whose attention is causal over the whole sequence.
std::span<const Flavor> flavors();

/// Whether a plan's model has a flavor's shape.
bool has_shape(const Words& words, const Flavor& flavor);

}  // namespace stepcast::language
