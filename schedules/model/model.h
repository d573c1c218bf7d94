#pragma once

#include <cstdint>
#include <string>

#include "sim/units.h"

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

/// Parameters of the whole model and of its parts; `sequence` counts where positions are learned (gpt).
double parameters(const Model& model, std::int64_t sequence);
double layer_parameters(const Model& model);
double embedding_parameters(const Model& model, std::int64_t sequence);
double head_parameters(const Model& model);  ///< last norm, and the output matrix where it is not the embedding's
/// Rows of the embedding on one of `tensor` ranks. A vocabulary that does not divide is padded to a multiple of 128
/// rows a rank, as Megatron-LM does (--make-vocab-size-divisible-by).
std::int64_t vocab_rows(const Model& model, std::uint32_t tensor);

bool tied_embeddings(const Model& model);  ///< the head uses the embedding's matrix

/// Floating-point operations that one step on `samples` samples needs: forward and twice that backward, nothing
/// recomputed, full (not causal) attention. For gpt with ffn = 4 h it is 72 B s l h^2 (1 + s/6h + V/12lh): Narayanan et
/// al., SC'21 (arXiv 2104.04473), eq. 3 without its factor 4/3 for recomputation.
Flops model_flops(const Model& model, std::int64_t samples, std::int64_t sequence);

}  // namespace stepcast::schedules
