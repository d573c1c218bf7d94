#include "models/layers/recompute_by_operator.h"

#include <array>
#include <cstdint>
#include <numeric>
#include <utility>

#include "models/layers/as_double.h"
#include "models/layers/early_stop.h"
#include "models/layers/stack_sizes.h"

namespace stepcast::schedules {
namespace {

using Kind = OperatorKind;

/// Relative widths of the weights that one multiply has side by side; 0: there is no such weight.
using Widths = std::array<std::int64_t, 3>;

Widths weights_of(const Scenario& s, Kind kind) {
  switch (kind) {
    case Kind::query_key_value: {
      const StackSizes z = stack_sizes(s, s.training.sequence, true);
      const std::int64_t keys = z.keys_values * z.key_width / (z.key_width + z.value_width);
      return {z.queries, keys, z.keys_values - keys};
    }
    case Kind::cross_keys_values:
      return {1, 1};
    case Kind::feed_forward_in:
      return is_gated(layer_style(s.model).activation) ? Widths{1, 1} : Widths{1};
    default:
      return {1};
  }
}

bool is_of_experts(Kind kind) { return kind == Kind::experts_in || kind == Kind::experts_out; }

class ByOperator {
 public:
  ByOperator(const Scenario& s, const OperatorList& list)
      : s_(s),
        list_(list),
        compiled_(s.software.elementwise_by == KernelMaker::inductor),
        end_(end_of_repetition(s, list.forward)) {}

  Recomputation run() && {
    out_.kept = input_bytes(list_);
    for (std::size_t i = 0; i < list_.operators.size(); ++i) {
      const std::size_t first = list_.operators[i].forward;
      const std::size_t end = i + 1 < list_.operators.size() ? list_.operators[i + 1].forward : list_.forward.size();
      if (list_.operators[i].kind == Kind::fused_attention)
        keep_attention(first, end);
      else
        for (std::size_t place = first; place < end; ++place) visit(place);
    }
    return std::move(out_);
  }

 private:
  /// One operator of PyTorch, whose traffic among context ranks is inside it: its result, and a float for each row of
  /// scores. What Ulysses' ranks exchange before and behind it is traffic of its own.
  void keep_attention(std::size_t first, std::size_t end) {
    bool has_run = false;
    for (std::size_t place = first; place < end; ++place) {
      if (const auto* traffic = std::get_if<TensorCollective>(&list_.forward[place]);
          traffic != nullptr && is_exchange(*traffic))
        keep_exchange(*traffic, has_run);  // behind it, its result once more
      const auto* attention = std::get_if<FusedAttention>(&list_.forward[place]);
      if (attention == nullptr || std::exchange(has_run, true)) continue;
      const double element = d(element_bytes(beside_low_precision(s_.training.precision)));
      out_.kept += attention->query_rows * (d(attention->value_width) * element + kFp32);
    }
  }

  void visit(std::size_t place) {
    const Kernel& kernel = list_.forward[place];
    if (const auto* gemm = std::get_if<Gemm>(&kernel); gemm != nullptr && gemm->linear && !is_of_experts(gemm->kind))
      return multiply(place, *gemm);
    if (const auto* traffic = std::get_if<TensorCollective>(&kernel); traffic != nullptr && is_kept(*traffic))
      return is_exchange(*traffic) ? keep_exchange(*traffic, traffic->among == Among::combine)
                                   : keep(place, d(traffic->bytes.value) / d(ranks(*traffic)));
    if (place < end_) out_.repeated.push_back(kernel);
  }

  void multiply(std::size_t place, const Gemm& gemm) {
    const Widths weights = weights_of(s_, gemm.kind);
    const auto all = std::accumulate(weights.begin(), weights.end(), std::int64_t{0});
    std::int64_t kept = 0;
    for (const std::int64_t width : weights)
      if (width > 0 && ++multiplies_ % 2 == 1) kept += width;
    kept = gemm.shape.n * kept / all;
    keep(place, d(gemm.shape.m) * d(kept) * d(gemm.shape.batch) * d(gemm.shape.output_bytes));
    if (kept == gemm.shape.n || place >= end_ || (compiled_ && is_unread(place))) return;
    Gemm again = gemm;
    again.shape.n -= kept;
    out_.repeated.push_back(again);
  }

  void keep(std::size_t place, double bytes) {
    const bool unread = is_unread(place);
    if (unread && compiled_) return;
    out_.kept += bytes;
    if (unread) out_.unread += bytes;
  }

  /// Traffic of experts and of Ulysses is between compiled parts, so its result is kept whoever reads it.
  void keep_exchange(const TensorCollective& traffic, bool unread) {
    out_.kept += d(traffic.bytes.value);
    if (unread) out_.unread += d(traffic.bytes.value);
  }

  static bool is_scattered(const TensorCollective& traffic) {
    return traffic.operation == collectives::Operation::reduce_scatter;
  }
  static bool is_exchange(const TensorCollective& traffic) {
    return traffic.operation == collectives::Operation::all_to_all;
  }
  static bool is_kept(const TensorCollective& traffic) { return is_scattered(traffic) || is_exchange(traffic); }
  /// That share what is scattered: of tensor ranks, those in a row.
  std::uint32_t ranks(const TensorCollective& traffic) const {
    if (traffic.among == Among::expert_tensor) return s_.parallelism.expert_tensor;
    return traffic.among == Among::tensor ? grid(s_.parallelism).columns : s_.parallelism.tensor;
  }
  /// Whether backward reads nothing of a result: of the layer's last multiply and what follows, which is only added to
  /// the residual; and of what is kept as a reduce_scatter has made it.
  bool is_unread(std::size_t place) const {
    if (place >= end_) return true;
    // Parts of what is scattered may be put in order first.
    std::size_t next = place + 1;
    while (next < list_.forward.size() && std::holds_alternative<Elementwise>(list_.forward[next]) &&
           kind(list_.forward[next]) == kind(list_.forward[place]))
      ++next;
    if (next == list_.forward.size()) return false;
    const auto* traffic = std::get_if<TensorCollective>(&list_.forward[next]);
    return traffic != nullptr && is_scattered(*traffic);
  }

  const Scenario& s_;
  const OperatorList& list_;
  const bool compiled_;
  const std::size_t end_;  ///< of what may be repeated
  int multiplies_ = 0;     ///< with weights, so far
  Recomputation out_;
};

}  // namespace

Recomputation recompute_by_operator(const Scenario& s, const OperatorList& list) { return ByOperator(s, list).run(); }

}  // namespace stepcast::schedules
