#include "models/layers/adapters.h"

#include <vector>

#include "models/layers/adapter_counts.h"
#include "models/layers/as_double.h"
#include "models/layers/kept_inputs.h"

namespace stepcast::schedules {
namespace {

using collectives::Operation;
using Kind = OperatorKind;

/// Columns that each adapter beside a multiply makes: of gate and up, or of queries, keys and values, its own.
using AdapterWidths = std::vector<std::int64_t>;

AdapterWidths widths_in(const LoraTargets& to, std::int64_t columns, bool gated) {
  if (to.feed_forward_in) return {columns};
  AdapterWidths out;
  for (const bool has : {to.gate, to.up})
    if (has) out.push_back(gated ? columns / 2 : columns);
  return out;
}

AdapterWidths widths_of_heads(const LoraTargets& to, const StackSizes& z) {
  if (to.query_key_value) return {z.query_key_value()};
  const std::int64_t keys = z.keys_values * z.key_width / (z.key_width + z.value_width);
  AdapterWidths out;
  if (to.queries) out.push_back(z.queries);
  if (to.keys) out.push_back(keys);
  if (to.values) out.push_back(z.keys_values - keys);
  return out;
}

/// The two narrow multiplies of one adapter and what stands around them, in one operator.
class Adapter {
 public:
  Adapter(Writer& w, const ExpertRows& rows) : w_(w), lora_(w.s.training.lora), rows_(rows), e_(d(w.z.element)) {}

  /// From `in` to `rank` columns and on to `out`. `between` and `behind` write what tensor ranks exchange of the
  /// results of A and of B, forward, and `back_between` and `back_behind` of their gradients.
  template <class Between, class Behind, class BackBehind, class BackBetween>
  void write(std::int64_t in, std::int64_t rank, std::int64_t out, const Between& between, const Behind& behind,
             const BackBehind& back_behind, const BackBetween& back_between) {
    PassWriter &f = w_.forward, &b = w_.backward;
    const std::int64_t whole = lora_.rank;
    enter(f, elements(in));
    multiply(f, in, rank);
    between(f);
    multiply(f, whole, out);
    behind(f);
    back_behind(b);
    gradient(b, out, whole);
    multiply(b, out, whole);
    back_between(b);
    gradient(b, rank, in);
    multiply(b, rank, in);
    enter(b, elements(in));
    w_.saves(elements(whole) * e_);  // A's result
  }
  /// That product and that sum of `elements` results, and backward of the gradient of as many inputs.
  void add(double results, double inputs) {
    w_.forward.touch(results * 2 * e_);
    w_.forward.touch(results * 3 * e_);
    w_.backward.touch(results * 2 * e_);
    w_.backward.touch(inputs * 3 * e_);
  }

 private:
  /// What stands before A, or the gradients of that: dropout, in fp32 where casts go there and back.
  void enter(PassWriter& pass, double inputs) const {
    const bool casts = adapters_in_fp32(w_.s);
    if (casts) pass.touch(inputs * (e_ + kFp32));
    if (lora_.dropout > 0) pass.touch(inputs * (2 * (casts ? kFp32 : e_) + kMask));
    if (casts) pass.touch(inputs * (e_ + kFp32));
  }
  double elements(std::int64_t columns) const { return d(rows_.each) * d(rows_.experts) * d(columns); }
  void multiply(PassWriter& pass, std::int64_t in, std::int64_t out) const {
    pass.narrow_product(rows_.each, in, out, rows_.experts, rows_.kernels);
  }
  void gradient(PassWriter& pass, std::int64_t rows, std::int64_t columns) const {
    pass.narrow_gradient(rows, columns, rows_.each, rows_.experts, rows_.kernels);
  }

  Writer& w_;
  const Lora& lora_;
  const ExpertRows rows_;
  const double e_;
};

constexpr auto kNothing = [](PassWriter&) {};

ExpertRows all_tokens(const StackSizes& z) { return {z.tokens, 1, 1, false}; }

double bytes_of_all_tokens(const StackSizes& z, std::int64_t columns) {
  return d(z.tokens) * d(columns) * d(z.element);
}

AdapterWidths adapter_widths(const Writer& w, Kind multiply, std::int64_t columns) {
  const LoraTargets& to = w.s.training.lora.targets;
  if (multiply == Kind::query_key_value) return widths_of_heads(to, w.z);
  if (multiply == Kind::mixer_in) return {columns};
  return widths_in(to, columns, is_gated(layer_style(w.s.model).activation));
}

}  // namespace

void adapt_first(Writer& w, OperatorKind multiply, std::int64_t columns) {
  if (adapters(w.s, multiply) == 0) return;
  const StackSizes& z = w.z;
  const std::int64_t rank = w.s.training.lora.rank, own = rank / z.tensor;
  w.begin(Kind::adapter);
  const bool gathers = z.split_sequence && gathers_for_adapters(w.s);
  if (gathers) w.forward.collective(Operation::all_gather);
  if (z.split_sequence) w.saves(z.residual * d(z.tensor - 1) * kept_of_input(w.s, multiply));
  for (const std::int64_t out : adapter_widths(w, multiply, columns)) {
    Adapter adapter(w, all_tokens(z));
    w.owns(d(own) * d(z.hidden) + d(rank) * d(out));
    const auto gather = [&](PassWriter& pass) { pass.collective(Operation::all_gather, bytes_of_all_tokens(z, rank)); };
    const auto sum = [&](PassWriter& pass) { pass.collective(Operation::all_reduce, bytes_of_all_tokens(z, rank)); };
    adapter.write(z.hidden, own, out, gather, kNothing, kNothing, sum);
    adapter.add(d(z.tokens) * d(out), d(z.tokens) * d(z.hidden));
  }
  if (gathers) w.backward.collective(Operation::reduce_scatter);
  if (!z.split_sequence) w.backward.collective(Operation::all_reduce);
}

void adapt_second(Writer& w, OperatorKind multiply, std::int64_t inner) {
  if (adapters(w.s, multiply) == 0) return;
  const StackSizes& z = w.z;
  const std::int64_t rank = w.s.training.lora.rank, own = z.hidden / z.tensor;
  w.begin(Kind::adapter);
  w.owns(d(rank) * (d(inner) + d(own)));
  Adapter adapter(w, all_tokens(z));
  const auto sum = [&](PassWriter& pass) { pass.collective(Operation::all_reduce, bytes_of_all_tokens(z, rank)); };
  const bool exchanges = z.split_sequence && w.s.software.adapter_all_to_all;
  const auto gather = [&](PassWriter& pass) {
    if (exchanges)
      pass.collective(Operation::all_to_all, z.hidden_bytes / d(z.tensor));
    else
      pass.collective(Operation::all_gather);
  };
  const auto gather_gradients = [&](PassWriter& pass) {
    if (z.split_sequence) gather(pass);
  };
  adapter.write(inner, rank, own, sum, gather, gather_gradients, sum);
  adapter.add(z.residual, d(z.tokens) * d(inner));
}

void adapt_experts(Writer& w, OperatorKind multiply, const ExpertRows& rows, std::int64_t in, std::int64_t out) {
  if (adapters(w.s, multiply) == 0) return;
  const std::int64_t rank = w.s.training.lora.rank;
  const bool first = multiply == Kind::experts_in;
  const AdapterWidths to = first
                               ? widths_in(w.s.training.lora.targets, out, is_gated(layer_style(w.s.model).activation))
                               : AdapterWidths{out};
  const double all = d(rows.each) * d(rows.experts);
  w.begin(Kind::adapter);
  for (const std::int64_t columns : to) {
    w.owns_of_experts(d(rank) * d(in + columns) * d(rows.experts), rows.shared_out);
    Adapter adapter(w, rows);
    adapter.write(in, rank, columns, kNothing, kNothing, kNothing, kNothing);
    adapter.add(all * d(columns), all * d(in));
  }
}

}  // namespace stepcast::schedules
