#pragma once

#include <cstdint>
#include <string>

#include "schedules/model/network.h"
#include "sim/units.h"

namespace stepcast::schedules {

enum class Family : std::uint8_t { gpt, llama, cnn, mlp, operators };

/// A transformer by its shape, or a network by its entries.
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
  Network network{};  ///< of cnn, mlp and operators, which have none of the sizes above but `layers`: its units
};

/// Whether the model is a Network: samples have no tokens, and no two of its blocks need be alike.
bool is_network(Family family);

/// Parameters of its parts; `sequence` counts where positions are learned (gpt).
double layer_parameters(const Model& model);
double embedding_parameters(const Model& model, std::int64_t sequence);
/// Rows of the embedding on one of `tensor` ranks. A vocabulary that does not divide is padded to a multiple of 128
/// rows a rank, as Megatron-LM does (--make-vocab-size-divisible-by).
std::int64_t vocab_rows(const Model& model, std::uint32_t tensor);

bool tied_embeddings(const Model& model);  ///< the head uses the embedding's matrix

}  // namespace stepcast::schedules
