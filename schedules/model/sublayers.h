#pragma once

#include <cstdint>
#include <string_view>

#include "schedules/model/operators.h"
#include "schedules/scenario.h"

namespace stepcast::schedules {

/// Sizes of one stack of layers on one tensor rank, counted once.
struct StackSizes {
  std::int64_t samples;      ///< of a micro-batch
  std::int64_t tokens;       ///< micro-batch x sequence
  std::int64_t batch_heads;  ///< micro-batch x heads of this rank
  std::int64_t sequence;     ///< of queries
  std::int64_t keys;         ///< tokens of one sample that a query may look at
  std::int64_t head_width, hidden;
  std::int64_t queries;          ///< columns of their projection on this rank
  std::int64_t query_key_value;  ///< columns of the fused projection on this rank
  std::int64_t ffn;              ///< inner width on this rank
  std::int64_t vocab;            ///< on this rank
  std::int64_t element;          ///< bytes
  double residual;               ///< elements of a layer's input on this rank: / tensor with sequence parallelism
  double inner;                  ///< tokens x ffn
  double scores;                 ///< batch_heads x sequence x keys
  double projected;              ///< elements of queries, keys and values together
  double hidden_bytes;           ///< of the whole layer input: what tensor collectives move
  bool causal;                   ///< a query looks at no later token
  bool split_sequence, several_ranks;
};

/// Of a stack whose samples have `sequence` tokens each, in self-attention.
StackSizes stack_sizes(const Scenario& scenario, std::int64_t sequence, bool causal);
/// Of cross-attention from the stack `queries` to `keys` tokens of each sample in another.
StackSizes cross_sizes(const StackSizes& queries, std::int64_t keys);

/// Writes one pass's operators down in order.
class Writer {
 public:
  Writer(const Scenario& scenario, const StackSizes& sizes) : s(scenario), z(sizes) {}
  Operators take() { return std::move(out_); }
  /// Another writer's operators, in the place where this one stands.
  void append(Operators more);

  /// `m` x `k` times `k` x `n`.
  void gemm(std::string_view name, std::int64_t m, std::int64_t k, std::int64_t n, std::int64_t batch = 1);
  /// Gradient of a weight of rows x columns, from `from` rows of input (0: all tokens), into the main gradient.
  void weight_gradient(std::string_view name, std::int64_t rows, std::int64_t columns, std::int64_t from = 0);
  /// Streams `bytes_moved` through memory in `kernels` launches.
  void touch(std::string_view name, double bytes_moved, int kernels = 1);
  /// Of the whole layer input, over the tensor ranks, if there are several.
  void collective(std::string_view name, collectives::Operation operation, bool under_next = false);
  void fused_attention(std::string_view name, double flops, bool backward, int kernels);

  const Scenario& s;
  const StackSizes& z;

 private:
  Operators out_;
};

inline constexpr double kMask = 1;  ///< bytes of an element of a dropout mask

bool has_dropout(const Scenario& scenario);
bool has_biases(const Scenario& scenario);

void norm_forward(Writer& w);
void norm_backward(Writer& w);

/// What closes each half of a layer: the biases of its last multiply, dropout and the residual, as far as there are.
void residual_forward(Writer& w);
void residual_backward(Writer& w);

/// Scores, softmax, dropout, weighted sum: between the projections. `positions`: relative positions are added.
void attention_core_forward(Writer& w, bool positions);
void attention_core_backward(Writer& w, bool positions);

/// A column-split linear layer needs the whole sequence; a row-split one leaves partial sums.
void gather_input(Writer& w);
void reduce_output(Writer& w);

/// Backward of a row-split linear layer (rows x columns on this rank): its output's gradient comes in whole or split.
void row_split_backward(Writer& w, std::string_view input, std::string_view weight, std::int64_t inner);
/// Backward of a column-split one. With tensor_overlap the input is gathered again under the input-gradient multiply,
/// and the input's gradient is reduced under the weight-gradient multiply (Korthikanti et al. 2022, sec. 4.2.2
/// and 6.1).
void column_split_backward(Writer& w, std::string_view input, std::string_view weight, std::int64_t columns);

/// The halves of a layer, norm and residual included.
void self_attention_forward(Writer& w);
void self_attention_backward(Writer& w);
void feed_forward_forward(Writer& w);
void feed_forward_backward(Writer& w);

/// Logits over the vocabulary from `rows` rows (0: all tokens) and their cross entropy.
void logits_forward(Writer& w, std::int64_t rows = 0);
void logits_loss_backward(Writer& w, std::int64_t rows = 0);
/// Bytes there while they are at work: the logits, and in fp32 for the loss.
double logits_working(const Scenario& scenario, const StackSizes& sizes, std::int64_t rows = 0);

/// Look-up of a stack's tokens in the vocabulary's matrix, and its gradient.
void look_up_forward(Writer& w);
void look_up_backward(Writer& w);

}  // namespace stepcast::schedules
