#pragma once

#include <cstdint>
#include <string_view>

#include "schedules/model/operators.h"
#include "schedules/scenario.h"

namespace stepcast::schedules {

/// Sizes of one stack of layers on one tensor rank, counted once.
struct StackSizes {
  std::int64_t samples;      ///< of a micro-batch on this rank: the depth of the tensor grid shares them
  std::int64_t tokens;       ///< samples x sequence / context ranks
  std::int64_t batch_heads;  ///< samples x heads of this rank
  std::int64_t sequence;     ///< of queries, on all context ranks together
  std::int64_t keys;         ///< tokens of one sample that a query may look at
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
  std::int64_t element;                 ///< bytes
  std::int64_t tensor, context;         ///< ranks
  TensorMethod method;                  ///< of several tensor ranks
  TensorGrid grid;                      ///< of the tensor ranks
  double residual;      ///< elements of a layer's input on this rank: / tensor with sequence parallelism
  double inner;         ///< tokens x ffn
  double scores;        ///< batch_heads x sequence x keys, of all context ranks
  double projected;     ///< elements of queries, keys and values together
  double hidden_bytes;  ///< of the layer input of a row of tensor ranks: what their collectives move
  bool causal;          ///< a query looks at no later token
  bool split_sequence;  ///< over the tensor ranks, between the multiplies

  std::int64_t query_key_value() const { return queries + keys_values; }
  std::int64_t residual_tokens() const { return split_sequence ? tokens / tensor : tokens; }
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

  /// Of a linear layer: `m` x `k` times `k` x `n`, `batch` of them, in `kernels` launches; `useful`: as Gemm's.
  void gemm(std::string_view name, std::int64_t m, std::int64_t k, std::int64_t n, std::int64_t batch = 1,
            int kernels = 1, double useful = 1);
  /// Gradient of a linear layer's weight of rows x columns, from `from` rows of input (0: all tokens), into the main
  /// gradient; of `batch` of them.
  void weight_gradient(std::string_view name, std::int64_t rows, std::int64_t columns, std::int64_t from = 0,
                       std::int64_t batch = 1, int kernels = 1, double useful = 1);
  /// That, from all tokens or `from` rows, and what the ranks exchange for the gradient of the layer's input, which
  /// `exchange(hide)` writes: under the multiply where the software overlaps them, else after it.
  template <class Exchange>
  void weight_gradient_and(const Exchange& exchange, std::string_view name, std::int64_t rows, std::int64_t columns,
                           std::int64_t from = 0) {
    if (!overlaps()) weight_gradient(name, rows, columns, from);
    exchange(overlaps());
    if (overlaps()) weight_gradient(name, rows, columns, from);
  }
  /// Whether the software runs traffic of backward under weight-gradient multiplies.
  bool overlaps() const { return s.software.tensor_overlap != TensorOverlap::none; }
  /// The same two of what is no linear layer: attention's core, a router.
  void product(std::string_view name, std::int64_t m, std::int64_t k, std::int64_t n, std::int64_t batch = 1);
  void product_gradient(std::string_view name, std::int64_t rows, std::int64_t columns, std::int64_t from);
  /// Streams `bytes_moved` through memory in `kernels` launches.
  void touch(std::string_view name, double bytes_moved, int kernels = 1);
  /// Over a row of tensor ranks, if there are several, of their layer input or of `size` bytes.
  void collective(std::string_view name, collectives::Operation operation, bool under_next = false);
  void collective(std::string_view name, collectives::Operation operation, double size, bool under_next = false);
  /// Sums partial results of `width` columns for every token, or of `size` bytes, over a column of tensor ranks, if it
  /// has several.
  void sum_over_rows(std::string_view name, std::int64_t width, bool under_next = false);
  void sum_statistics_over_rows(std::string_view name, int of_a_token);
  /// Gradients of keys and values, over the tensor ranks that hold the same head of them, if several do.
  void sum_over_kv_copies();
  /// A weight of rows x columns on this rank, from the ranks in depth that share it, if there are several.
  void gather_weight(std::int64_t rows, std::int64_t columns);
  /// Its gradient, each element of `element` bytes, back to them.
  void scatter_gradient(std::int64_t rows, std::int64_t columns, std::int64_t element, bool under_next);
  /// The collective just written goes part by part beside its multiply, where the software does that.
  void in_parts();
  /// Among others; the caller knows that there are several.
  void exchange(std::string_view name, Among among, collectives::Operation operation, double size,
                bool under_next = false);
  /// `flops` of the full square.
  void fused_attention(std::string_view name, double flops, bool backward);

  const Scenario& s;
  const StackSizes& z;

 private:
  void accumulate(Gemm gradient);

  Operators out_;
};

inline constexpr double kMask = 1;  ///< bytes of an element of a dropout mask

bool has_dropout(const Scenario& scenario);
bool has_biases(const Scenario& scenario);

}  // namespace stepcast::schedules
