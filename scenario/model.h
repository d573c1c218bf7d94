#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scenario/layer_pattern.h"
#include "scenario/network.h"
#include "scenario/precision.h"
#include "sim/units.h"

namespace stepcast::schedules {

enum class Family : std::uint8_t { gpt, llama, bert, t5, vit, cnn, mlp, operators, moe };

/// Feed-forward blocks of which each token visits few (Shazeer et al. 2017, arXiv 1701.06538).
struct Experts {
  std::int64_t count = 0;         ///< routed ones of a layer; 0: the model is dense
  std::int64_t active = 0;        ///< of those, a token's (top-k)
  std::int64_t ffn = 0;           ///< inner width of one
  std::int64_t shared_ffn = 0;    ///< inner width of the shared experts together, which every token visits; 0: none
  std::int64_t dense_layers = 0;  ///< the first layers have an ordinary feed-forward block
  std::int64_t every = 1;         ///< and so have all behind them but each so-many-th layer, counted from the first
  /// Width of what the routed ones read and write: tokens are projected to it before they are sent and back behind
  /// (LatentMoE, Nemotron 3 Super and Ultra); 0: the model's.
  std::int64_t latent = 0;
};

/// Multi-head latent attention: queries, keys and values through low-rank projections, positions in a part of their own
/// (DeepSeek-V2, arXiv 2405.04434, sec. 2.1).
struct LatentAttention {
  std::int64_t kv_rank = 0;     ///< of keys and values together; 0: ordinary attention
  std::int64_t query_rank = 0;  ///< 0: queries are projected directly
  std::int64_t head = 0;        ///< width of a head's queries and keys without positions
  std::int64_t rotary = 0;      ///< of the part with positions, whose key all heads share
  std::int64_t value = 0;       ///< of a head's values
};

/// State-space layers with a scalar decay for each head (Mamba-2; Dao and Gu 2024, arXiv 2405.21060). The state of a
/// head is a matrix of `head` x `state` numbers, which each token decays, adds to and reads.
struct Mamba {
  std::int64_t heads = 0;
  std::int64_t head = 64;        ///< width of a head; all heads' together is the layer's inner width
  std::int64_t state = 128;      ///< numbers of the state for each of a head's
  std::int64_t groups = 1;       ///< of heads, each of which shares what it adds by and reads by (B and C)
  std::int64_t convolution = 4;  ///< tokens that the convolution before the scan sees
  std::int64_t chunk = 256;      ///< tokens that multiplies go through at once, the state passing from chunk to chunk
};

/// Linear attention that corrects what its state already says of a key, and forgets (gated DeltaNet; Yang, Kautz and
/// Hatamizadeh 2024, arXiv 2412.06464). The state of a head is a matrix of `key` x `value` numbers.
struct DeltaNet {
  std::int64_t heads = 0;        ///< of values, and of states
  std::int64_t key_heads = 0;    ///< of queries and of keys
  std::int64_t key = 128;        ///< width of a head's queries and keys
  std::int64_t value = 128;      ///< and of its values
  std::int64_t convolution = 4;  ///< as Mamba's
  std::int64_t chunk = 64;       ///< likewise
};

enum class Activation : std::uint8_t {
  gelu,
  relu,
  swiglu,
  geglu,
  squared_relu,
  clamped_swiglu  ///< whose gate and other half are clamped (gpt-oss)
};

/// How a transformer tells its tokens' places apart.
enum class Positions : std::uint8_t {
  learned,  ///< a vector for each place, added to the embedding
  rotary,   ///< queries and keys are turned (Su et al. 2021, arXiv 2104.09864)
  alibi,    ///< a fixed bias on the scores, in proportion to the distance (Press et al. 2022, arXiv 2108.12409)
  none,     ///< by what comes before alone
  relative  ///< t5: a learned bias on the scores of self-attention, for 32 distances
};

/// Which linear layers of a layer have biases.
enum class Biases : std::uint8_t {
  none,
  all,
  attention,    ///< queries, keys, values and their projection
  feed_forward  ///< the others
};

/// An RMSNorm that queries and keys pass.
enum class QueryKeyNorm : std::uint8_t {
  none,
  each_head,  ///< of every head alone, all with the same parameters (Qwen 3)
  all_heads   ///< of all heads together (OLMo 2)
};

/// Whether a layer's feed-forward block starts from the same input as its attention, both added to it together, instead
/// of from attention's result (GPT-J, PaLM, Falcon).
enum class ParallelBlock : std::uint8_t {
  none,
  one_norm,  ///< both see the same norm of the input
  two_norms  ///< each has its own
};

/// What a model of family gpt, llama or moe has otherwise than its family. Absent: as the family has it.
struct Variations {
  std::optional<bool> tied_head{};  ///< the head uses the embedding's matrix
  std::optional<Biases> biases{};   ///< norms keep theirs
  std::optional<bool> dropout{};
  std::optional<Activation> activation{};
  std::optional<Positions> positions{};
  bool qkv_bias = false;  ///< of queries, keys and values alone
  QueryKeyNorm qk_norm = QueryKeyNorm::none;
  ParallelBlock parallel_block = ParallelBlock::none;
  bool attention_gate = false;  ///< of attention's result, from the layer's input (Qwen 3 Next)
  bool embedding_norm = false;  ///< behind the embedding
  bool final_norm = true;       ///< before the logits
  bool post_norms = false;      ///< a second norm in each half of a layer, before its residual (Gemma 2)
  bool head_bias = false;       ///< of the logits
  std::optional<std::int64_t> norm_parameters{};  ///< of a norm, for each number that it norms: 2, 1 or 0
  std::int64_t window = 0;                        ///< tokens that a query sees, its own included; 0: all up to its own
  bool window_in_chunks = false;          ///< it sees instead what is before it in its chunk of so many (Llama 4)
  std::int64_t full_attention_every = 0;  ///< each so-many-th layer sees all the same; 0: none
  std::int64_t embedding_width = 0;       ///< of the vocabulary's matrix, projected to and from `hidden`; 0: hidden
  /// Of the layers from the first on, beginning anew where there are more. Empty: attention, and behind it what Experts
  /// say.
  std::vector<LayerHalves> pattern{};
};

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
  std::int64_t segments = 2;        ///< bert: kinds of sentences, a vector each
  bool next_sentence = true;        ///< bert: a pooler and the head that tells whether two sentences follow each other
  std::int64_t patch = 0;           ///< vit: pixels along a side
  std::int64_t classes = 0;         ///< vit
  Tensor image{};                   ///< vit: one sample
  Experts experts{};                ///< of moe
  LatentAttention latent{};         ///< of moe
  Mamba mamba{};                    ///< of gpt, llama and moe, where the pattern has it
  DeltaNet delta_net{};             ///< likewise
  Variations variations{};          ///< of gpt, llama and moe
  /// Layers behind the last one, each of which predicts the token one further on (multi-token prediction: DeepSeek-V3,
  /// arXiv 2412.19437, sec. 2.2). Not counted in `layers`. Of gpt, llama and moe.
  std::int64_t mtp_layers = 0;
  std::optional<Precision> precision{};  ///< of training, where a scenario says none
};

/// What the layers of a family are made of.
struct LayerStyle {
  bool rms_norm = false;  ///< else LayerNorm, which has a bias
  bool attention_biases = false, feed_forward_biases = false, dropout = false;
  Positions positions = Positions::learned;
  bool causal = false;  ///< self-attention sees no later token (t5: in the decoder)
  Activation activation = Activation::gelu;
  std::int64_t norm_parameters = 2;  ///< as Variations'
};
/// gpt: Radford et al. 2019; llama: Touvron et al. 2023 (arXiv 2302.13971); bert: Devlin et al. 2019 (arXiv
/// 1810.04805); t5: Raffel et al. 2020 (arXiv 1910.10683); vit: Dosovitskiy et al. 2021 (arXiv 2010.11929). With the
/// model's own variations.
LayerStyle layer_style(const Model& model);

/// Whether the feed-forward block has two matrices in front, one the gate of the other.
constexpr bool is_gated(Activation a) {
  return a == Activation::swiglu || a == Activation::geglu || a == Activation::clamped_swiglu;
}

std::int64_t head_width(const Model& model);
std::int64_t encoder_layers(const Model& model);  ///< t5
std::int64_t patches(const Model& model);         ///< vit: of one image

/// Heads of keys and values that have projections of their own; with latent attention every head has.
std::int64_t kv_heads(const Model& model);
/// Of `head_ranks` tensor ranks that share the heads out, those that hold the same head of keys and values: more than
/// one where there are fewer heads than ranks. Requires the one number to divide the other.
std::int64_t kv_copies(const Model& model, std::int64_t head_ranks);

/// Distances between tokens that relative positions tell apart, each with a bias for every head.
inline constexpr std::int64_t kRelativePositions = 32;  // T5's relative_attention_num_buckets

/// A stack of layers that predicts each next token: gpt, llama, moe.
bool is_decoder(Family family);

/// Whether the model is a Network: samples have no tokens, and no two of its blocks need be alike.
bool is_network(Family family);

/// Whether its samples are made of tokens of a vocabulary.
bool has_tokens(Family family);

/// What a layer is made of, counted from 0.
LayerHalves halves(const Model& model, std::int64_t layer);
/// And one of multi-token prediction: attention, and experts where any layer has them.
LayerHalves mtp_halves(const Model& model);
/// How many layers have it.
std::int64_t layers_with(const Model& model, Mixer mixer);
std::int64_t layers_with(const Model& model, FeedForward feed_forward);

/// Tokens that a query of a layer sees in a sample of `sequence`, its own included.
std::int64_t attention_window(const Model& model, std::int64_t layer, std::int64_t sequence);

/// Width of what a routed expert reads and writes.
std::int64_t expert_width(const Model& model);

/// Parameters of the routed experts of one layer, of all expert ranks together.
double routed_parameters(const Model& model);

/// Of all layers together, parameters of routed experts that one token does not visit.
double idle_parameters(const Model& model);

/// Rows of the embedding on one of `tensor` ranks, padded to `multiple` rows each (Software::vocabulary_multiple).
/// Where that is 1, only a vocabulary that the ranks do not divide is padded, to 128 rows a rank as Megatron-LM does.
std::int64_t vocab_rows(const Model& model, std::uint32_t tensor, std::int64_t multiple = 1);

bool tied_embeddings(const Model& model);  ///< the head uses the embedding's matrix

}  // namespace stepcast::schedules
