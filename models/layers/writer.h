#pragma once

#include <cstdint>
#include <utility>

#include "models/layers/operator_list.h"
#include "models/layers/stack_sizes.h"

namespace stepcast::schedules {

/// Writes kernels of one pass of the operator at which a list stands.
class PassWriter {
 public:
  PassWriter(const Scenario& scenario, const StackSizes& sizes, OperatorList& list, bool backward)
      : s(scenario), z(sizes), list_(&list), backward_(backward) {}

  /// Of a linear layer: `m` x `k` times `k` x `n`, `batch` of them, in `kernels` launches; `useful`: as Gemm's.
  void gemm(std::int64_t m, std::int64_t k, std::int64_t n, std::int64_t batch = 1, int kernels = 1, double useful = 1);
  /// Gradient of a linear layer's weight, unless that is not trained: of rows x columns, from `from` rows of input (0:
  /// all tokens), into the main gradient; of `batch` of them.
  void weight_gradient(std::int64_t rows, std::int64_t columns, std::int64_t from = 0, std::int64_t batch = 1,
                       int kernels = 1, double useful = 1);
  /// That, from all tokens or `from` rows, and what the ranks exchange for the gradient of the layer's input, which
  /// `exchange(hide)` writes: under the multiply where the software overlaps them, else after it.
  template <class Exchange>
  void weight_gradient_and(const Exchange& exchange, std::int64_t rows, std::int64_t columns, std::int64_t from = 0) {
    if (!overlaps()) weight_gradient(rows, columns, from);
    exchange(overlaps());
    if (overlaps()) weight_gradient(rows, columns, from);
  }
  /// Whether the software runs traffic of backward under weight-gradient multiplies.
  bool overlaps() const { return hides_under_weight_gradients(s) && !trains_adapters(s.training); }
  /// The same two of what is no linear layer: attention's core, a router.
  void product(std::int64_t m, std::int64_t k, std::int64_t n, std::int64_t batch = 1);
  /// Of attention's core, `batch` times: heads of `width` numbers, which is k or n.
  void head_product(std::int64_t m, std::int64_t k, std::int64_t n, std::int64_t batch, std::int64_t width);
  void product_gradient(std::int64_t rows, std::int64_t columns, std::int64_t from);
  /// And of an adapter, which is trained whatever else is.
  void narrow_product(std::int64_t m, std::int64_t k, std::int64_t n, std::int64_t batch, int kernels);
  void narrow_gradient(std::int64_t rows, std::int64_t columns, std::int64_t from, std::int64_t batch, int kernels);
  /// Streams `bytes_moved` through memory in `kernels` launches.
  void touch(double bytes_moved, int kernels = 1);
  /// The same, and the host waits for the result.
  void touch_and_wait(double bytes_moved, int kernels = 1);
  /// Gradient of a bias or an embedding, unless it is not trained.
  void touch_for_weights(double bytes_moved);
  /// Over a row of tensor ranks, if there are several, of their layer input or of `size` bytes.
  void collective(collectives::Operation operation, bool under_next = false);
  void collective(collectives::Operation operation, double size, bool under_next = false);
  /// Sums partial results of `width` columns for every token, or `of_a_token` numbers of it, over a column of tensor
  /// ranks, if it has several.
  void sum_over_rows(std::int64_t width, bool under_next = false);
  void sum_statistics_over_rows(int of_a_token);
  /// Gradients of keys and values, over the tensor ranks that hold the same head of them, if several do.
  void sum_over_kv_copies();
  /// A weight of rows x columns on this rank, from the ranks in depth that share it, if there are several.
  void gather_weight(std::int64_t rows, std::int64_t columns);
  /// Its gradient, each element of `element` bytes, back to them.
  void scatter_gradient(std::int64_t rows, std::int64_t columns, std::int64_t element, bool under_next);
  /// What sequence parallelism leaves of a layer's input on every rank, gathered for its multiply; in backward again,
  /// unless the software has kept it.
  void gather_input();
  void gather_input(double bytes);  ///< of that many in all
  /// The collective just written goes part by part beside its multiply, where the software does that.
  void in_parts();
  /// Among others; the caller knows that there are several.
  void exchange(Among among, collectives::Operation operation, double size, bool under_next = false);
  /// `flops` of the full square.
  void fused_attention(double flops);
  /// Any kernel, which becomes one of the operator's kind.
  template <class AnyKernel>
  void run(AnyKernel kernel) {
    kernel.kind = kind();
    out().push_back(std::move(kernel));
  }

  const Scenario& s;
  const StackSizes& z;

 private:
  OperatorKind kind() const { return list_->operators.back().kind; }
  Kernels& out() const { return backward_ ? list_->backward : list_->forward; }
  void accumulate(Gemm gradient);
  void unpack_weights(double elements, int kernels);

  OperatorList* list_;
  bool backward_;
};

/// Writes down the operators of one stack.
class Writer {
 public:
  /// Requires all three to outlive it.
  Writer(const Scenario& scenario, const StackSizes& sizes, OperatorList& list, RecomputedModules modules = {})
      : s(scenario),
        z(sizes),
        forward(scenario, sizes, list, false),
        backward(scenario, sizes, list, true),
        list_(list),
        modules_(modules) {}

  /// One that goes on where this one stands, with other sizes or inside a module of selective recomputation too.
  Writer with(const StackSizes& other) const { return {s, other, list_, modules_}; }
  Writer inside(RecomputedModules modules) const { return {s, z, list_, united(modules_, modules)}; }

  /// Begins an operator, to which all belongs that is written from now on.
  void begin(OperatorKind kind) {
    list_.begin(kind, modules_).frozen = trains_adapters(s.training) && kind != OperatorKind::adapter;
  }
  /// It reads, beside the result of the operator before it, that of the last one of a kind.
  void reads_also(OperatorKind kind);
  /// It owns so many parameters on this rank.
  void owns(double parameters) { here().parameters += parameters; }
  void owns_of_experts(double parameters, bool shared_out);
  /// It keeps so many bytes for backward: dropped where the module that it is in is repeated, or others.
  void saves(double bytes) { list_.saved.push_back({bytes, modules_}); }
  void saves(double bytes, RecomputedModules dropped_with) { list_.saved.push_back({bytes, dropped_with}); }
  /// Forward gathers what enters a multiply over the tensor ranks (sequence parallelism). Where backward does not
  /// gather it again, the others' parts are kept beside this rank's own, which is `own` bytes.
  void gathers_input(double own);
  /// Keeps the others' parts of what it has gathered, likewise.
  void keeps_gathered(double own);
  /// Bytes of gradients that backward has there while it is at work on them.
  void holds_gradients(double bytes) { here().gradients += bytes; }

  const Scenario& s;
  const StackSizes& z;
  PassWriter forward, backward;  ///< what the operator runs

 private:
  Operator& here() { return list_.operators.back(); }

  OperatorList& list_;
  RecomputedModules modules_;
};

}  // namespace stepcast::schedules
