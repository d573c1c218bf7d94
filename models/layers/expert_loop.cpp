#include "models/layers/expert_loop.h"

#include "models/layers/adapters.h"
#include "models/layers/as_double.h"
#include "models/layers/kept_inputs.h"

namespace stepcast::schedules {
namespace {

using Kind = OperatorKind;

constexpr double kRowNumberBytes = 8;  // bytes of an int64

// Operators that ATen makes of one: host_per_kernel is of an operator, however many kernels it launches.
/// nonzero (native/cuda/Nonzero.cu): a sum, which the host reads to allocate the result, and then selection and
/// indices.
constexpr int kSelectOperators = 2;
/// index_put_ that accumulates (native/cuda/Indexing.cu, index_put_with_sort_kernel): wraps the index, makes it linear,
/// divides it by the row's size, counts, sorts, adds up.
constexpr int kScatterOperators = 6;

/// Qwen3MoeSparseMoeBlock and MixtralSparseMoeBlock of transformers, github.com/huggingface/transformers @00d4b3d,
/// models/qwen3_moe/modeling_qwen3_moe.py and models/mixtral/modeling_mixtral.py; their gradients are autograd's.
class ExpertLoop {
 public:
  ExpertLoop(Writer& writer, const Routing& routing)
      : w_(writer),
        hidden_(writer.z.hidden),
        inner_(writer.s.model.experts.ffn),
        rows_(routing.per_expert),
        tokens_(routing.tokens),
        mask_(d(routing.tokens) * d(writer.s.model.experts.active) * kRowNumberBytes),
        count_(routing.local_experts) {}

  void run() {
    mask();
    for (std::int64_t expert = 0; expert < count_; ++expert) {
      pick();
      multiply();
      add();
    }
  }

 private:
  double bytes(std::int64_t rows, std::int64_t width) const { return d(rows) * d(width) * d(w_.z.element); }

  /// Of the input of one of an expert's multiplies.
  double kept(Kind multiply, std::int64_t width) const {
    return d(rows_) * d(width) * kept_of_expert_input(w_.s, multiply);
  }

  /// one_hot (zeros, scatter), the result's zeros, and which experts have tokens at all: greater(sum()).nonzero().
  void mask() {
    w_.begin(Kind::expert_copies);
    const double all = mask_ * d(count_);
    w_.forward.touch(all, 2);
    w_.forward.touch(bytes(tokens_, hidden_));
    w_.forward.touch_and_wait(all, 3);
    w_.forward.touch(d(count_) * kRowNumberBytes, kSelectOperators);
  }

  /// The expert's number comes to the host (ModuleList takes no tensor), then how many tokens it has (torch.where), and
  /// those are copied out. Backward scatters their gradient into zeros of all tokens, which the others' is added to.
  void pick() {
    w_.begin(Kind::experts_dispatch);
    w_.forward.touch_and_wait(kRowNumberBytes);
    w_.forward.touch(2 * mask_);
    w_.forward.touch_and_wait(mask_);
    w_.forward.touch(mask_ + 2 * d(rows_) * kRowNumberBytes, kSelectOperators);
    w_.forward.touch(2 * bytes(rows_, hidden_));
    w_.backward.touch(bytes(tokens_, hidden_));
    w_.backward.touch(3 * bytes(rows_, hidden_), kScatterOperators);
    w_.backward.touch(3 * bytes(tokens_, hidden_));
    w_.saves(kept(Kind::experts_in, hidden_) + 2 * d(rows_) * kRowNumberBytes);
  }

  /// down(silu(gate(x)) * up(x)), an operator each, whose gradient of x is the sum of two.
  void multiply() {
    const double out = d(hidden_) * d(inner_);
    w_.begin(Kind::experts_in);
    w_.owns_of_experts(2 * out, false);
    w_.forward.gemm(rows_, hidden_, inner_, 2, 2);
    w_.backward.gemm(rows_, inner_, hidden_, 2, 2);
    w_.backward.weight_gradient(inner_, hidden_, rows_, 2, 2);
    w_.backward.touch(3 * bytes(rows_, hidden_));
    adapt_experts(w_, Kind::experts_in, {.each = rows_, .experts = 1}, hidden_, 2 * inner_);

    w_.begin(Kind::swiglu);
    w_.forward.touch(5 * bytes(rows_, inner_), 2);
    w_.backward.touch(9 * bytes(rows_, inner_), 3);
    w_.saves(3 * bytes(rows_, inner_));  // gates, their activation and ups

    w_.begin(Kind::experts_out);
    w_.owns_of_experts(out, false);
    w_.forward.gemm(rows_, inner_, hidden_);
    w_.backward.gemm(rows_, hidden_, inner_);
    w_.backward.weight_gradient(hidden_, inner_, rows_);
    w_.saves(kept(Kind::experts_out, inner_));
    adapt_experts(w_, Kind::experts_out, {.each = rows_, .experts = 1}, inner_, hidden_);
  }

  /// Times the copies' weights, which are picked too, and index_add_. Backward picks the gradient's rows, has both
  /// gradients of the product, of which the weights' is a sum over a row, and scatters that one.
  void add() {
    const double weights = d(rows_) * d(w_.z.element), all_weights = mask_ / kRowNumberBytes * d(w_.z.element);
    w_.begin(Kind::experts_combine);
    w_.forward.touch(2 * weights);
    w_.forward.touch(2 * bytes(rows_, hidden_));
    w_.forward.touch(3 * bytes(rows_, hidden_));
    w_.backward.touch(2 * bytes(rows_, hidden_));
    w_.backward.touch(2 * bytes(rows_, hidden_));
    w_.backward.touch(3 * bytes(rows_, hidden_));
    w_.backward.touch(bytes(rows_, hidden_));
    w_.backward.touch(all_weights);
    w_.backward.touch(3 * weights, kScatterOperators);
    w_.backward.touch(3 * all_weights);
    w_.saves(bytes(rows_, hidden_) + weights);
  }

  Writer& w_;
  const std::int64_t hidden_, inner_, rows_, tokens_;
  const double mask_;  ///< bytes of one expert's
  const std::int64_t count_;
};

}  // namespace

void expert_loop(Writer& w, const Routing& routing) { ExpertLoop(w, routing).run(); }

}  // namespace stepcast::schedules
