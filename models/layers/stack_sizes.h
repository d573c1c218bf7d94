#pragma once

#include <cstdint>

#include "scenario/scenario.h"

namespace stepcast::schedules {

/// Sizes of one stack of layers on one tensor rank, counted once.
struct StackSizes {
  std::int64_t samples;      ///< of a micro-batch on this rank: the depth of the tensor grid shares them
  std::int64_t tokens;       ///< samples x sequence / context ranks
  std::int64_t batch_heads;  ///< samples x heads of this rank
  std::int64_t sequence;     ///< of queries, on all context ranks together
  std::int64_t keys;         ///< tokens of one sample that a query may look at
  std::int64_t window;       ///< of those, a query looks at its own and the last ones before it
  std::int64_t hidden;
  std::int64_t width;                   ///< of hidden on this rank: the rows of the tensor grid share it
  std::int64_t heads;                   ///< of this rank
  std::int64_t key_width, value_width;  ///< of a head; queries are as wide as keys
  std::int64_t queries;                 ///< columns of all its heads' queries
  std::int64_t keys_values;             ///< of keys and values together
  std::int64_t kv_copies;               ///< tensor ranks that hold the same head of keys and values
  std::int64_t attention_out;           ///< of all its heads' results
  std::int64_t ffn;                     ///< inner width on this rank
  std::int64_t vocab;                   ///< on this rank
  std::int64_t element;                 ///< bytes of what multiplies read and write
  std::int64_t residual_element;        ///< and of what goes past the halves of a layer (models/layers/autocast.h)
  std::int64_t tensor, context;         ///< ranks
  TensorMethod method;                  ///< of several tensor ranks
  TensorGrid grid;                      ///< of the tensor ranks
  double residual;      ///< elements of a layer's input on this rank: / tensor with sequence parallelism
  double inner;         ///< tokens x ffn
  double scores;        ///< batch_heads x sequence x keys, of all context ranks
  double projected;     ///< elements of queries, keys and values together
  double hidden_bytes;  ///< of the layer input of a row of tensor ranks: what their collectives move
  bool causal;          ///< a query looks at no later token
  bool chunks;          ///< it looks at none outside its chunk of `window` tokens
  bool split_sequence;  ///< over the tensor ranks, between the multiplies

  std::int64_t query_key_value() const { return queries + keys_values; }
  std::int64_t residual_tokens() const { return split_sequence ? tokens / tensor : tokens; }
  double residual_bytes() const { return residual * static_cast<double>(residual_element); }
  /// Of what a layer passes on, of a row of tensor ranks.
  double passed_on() const {
    return hidden_bytes / static_cast<double>(element) * static_cast<double>(residual_element);
  }
};

/// Of a stack whose samples have `sequence` tokens each, in self-attention.
StackSizes stack_sizes(const Scenario& scenario, std::int64_t sequence, bool causal);
/// Of cross-attention from the stack `queries` to `keys` tokens of each sample in another.
StackSizes cross_sizes(const StackSizes& queries, std::int64_t keys);

inline constexpr double kMask = 1;  ///< bytes of an element of a dropout mask
inline constexpr double kFp32 = 4;  ///< and of one in fp32

bool has_dropout(const Scenario& scenario);

/// Ranks that share what enters the first multiply of a pair (multiply_pair.h): each makes partial sums of all its
/// columns.
inline double ranks_of_first_input(const StackSizes& z) {
  return z.method == TensorMethod::reduce_output ? static_cast<double>(z.tensor) : 1;
}
/// Times its own part that each rank has of what enters the second.
inline double parts_of_second_input(const StackSizes& z) {
  return z.method == TensorMethod::partition_output ? static_cast<double>(z.tensor) : 1;
}

}  // namespace stepcast::schedules
