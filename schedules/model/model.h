#pragma once

#include <cstdint>
#include <string>

namespace stepcast::schedules {

enum class Family : std::uint8_t { gpt, llama };

/// A decoder-only transformer by its shape.
struct Model {
  std::string name;
  Family family = Family::gpt;  ///< gpt: LayerNorm, biases, GELU, learned positions, tied head; llama: RMSNorm, SwiGLU,
                                ///< rotary, untied head
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;  ///< equal to heads: multi-head attention; fewer: grouped queries
  std::int64_t ffn = 0;       ///< inner width of the feed-forward block
  std::int64_t vocab = 0;
  std::string source;
};

/// Parameters of the whole model, and of its parts; `sequence` counts where positions are learned.
double parameters(const Model& model, std::int64_t sequence);
double layer_parameters(const Model& model);
double embedding_parameters(const Model& model, std::int64_t sequence);

}  // namespace stepcast::schedules
