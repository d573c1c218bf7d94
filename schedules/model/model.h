#pragma once

#include <cstdint>
#include <string>

#include "schedules/model/network.h"
#include "sim/units.h"

namespace stepcast::schedules {

enum class Family : std::uint8_t { gpt, llama, bert, t5, vit, cnn, mlp, operators };

/// A transformer by its shape, or a network by its entries.
struct Model {
  std::string name;
  Family family = Family::gpt;
  std::int64_t layers = 0;  ///< of all stacks together
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;  ///< equal to heads: multi-head attention; fewer: grouped queries
  std::int64_t ffn = 0;       ///< inner width of the feed-forward block
  std::int64_t vocab = 0;
  std::string source;
  Network network{};  ///< of cnn, mlp and operators, which have none of the sizes above but `layers`: its units
  std::int64_t head_width = 0;      ///< 0: hidden / heads
  std::int64_t decoder_layers = 0;  ///< t5: the last so many of `layers`
  bool gated = false;               ///< t5: GELU-gated feed-forward and an untied head (T5 1.1), else ReLU and tied
  std::int64_t positions = 0;       ///< learned ones; 0: as many as a sample has tokens
  std::int64_t patch = 0;           ///< vit: pixels along a side
  std::int64_t classes = 0;         ///< vit
  Tensor image{};                   ///< vit: one sample
};

enum class Activation : std::uint8_t { gelu, relu, swiglu, geglu };

/// What the layers of a family are made of.
struct LayerStyle {
  bool rms_norm = false;  ///< else LayerNorm, which has a bias
  bool biases = false, dropout = false;
  bool rotary = false;              ///< positions turn queries and keys
  bool relative_positions = false;  ///< a learned bias on the scores of self-attention, for 32 distances
  bool causal = false;              ///< self-attention sees no later token (t5: in the decoder)
  Activation activation = Activation::gelu;
};
/// gpt: Radford et al. 2019; llama: Touvron et al. 2023 (arXiv 2302.13971); bert: Devlin et al. 2019 (arXiv
/// 1810.04805); t5: Raffel et al. 2020 (arXiv 1910.10683); vit: Dosovitskiy et al. 2021 (arXiv 2010.11929).
LayerStyle layer_style(const Model& model);

/// Whether the feed-forward block has two matrices in front, one the gate of the other.
constexpr bool is_gated(Activation a) { return a == Activation::swiglu || a == Activation::geglu; }

std::int64_t head_width(const Model& model);
std::int64_t encoder_layers(const Model& model);  ///< t5
std::int64_t patches(const Model& model);         ///< vit: of one image

/// Distances between tokens that relative positions tell apart, each with a bias for every head.
inline constexpr std::int64_t kRelativePositions = 32;  // T5's relative_attention_num_buckets

/// Whether the model is a Network: samples have no tokens, and no two of its blocks need be alike.
bool is_network(Family family);

/// Whether its samples are made of tokens of a vocabulary.
bool has_tokens(Family family);

/// Parameters of one layer with self-attention and feed-forward block, and those of its norms and of the biases behind
/// a row-split multiply, which stand on every tensor rank.
double layer_parameters(const Model& model);
double layer_parameters_of_every_rank(const Model& model);
/// Of the embedding; `sequence` counts where positions are learned and not limited.
double embedding_parameters(const Model& model, std::int64_t sequence);
/// Rows of the embedding on one of `tensor` ranks. A vocabulary that does not divide is padded to a multiple of 128
/// rows a rank, as Megatron-LM does (--make-vocab-size-divisible-by).
std::int64_t vocab_rows(const Model& model, std::uint32_t tensor);

bool tied_embeddings(const Model& model);  ///< the head uses the embedding's matrix

}  // namespace stepcast::schedules
