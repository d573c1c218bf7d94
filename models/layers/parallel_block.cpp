#include "models/layers/parallel_block.h"

#include "models/layers/adapters.h"
#include "models/layers/as_double.h"
#include "models/layers/attention.h"
#include "models/layers/feed_forward.h"
#include "models/layers/kept_inputs.h"
#include "models/layers/low_precision.h"
#include "models/layers/multiply_pair.h"
#include "models/layers/shared_operators.h"

namespace stepcast::schedules {
namespace {

using collectives::Operation;
using Kind = OperatorKind;

/// Adds two results of all tokens: two reads and a write.
void add(PassWriter& w) { w.touch(3 * d(w.z.tokens) * d(w.z.width) * d(w.z.element)); }

/// The two multiplies in front behind one norm: both gradients of its result are added before the tensor ranks sum
/// them.
void common_input(Writer& w) {
  const StackSizes& z = w.z;
  const std::int64_t heads = z.query_key_value(), inner = feed_forward_columns(w.s.model, z.ffn);
  PassWriter& b = w.backward;
  w.begin(Kind::query_key_value);
  w.owns(d(z.width) * d(heads) + query_key_value_biases(w.s, z));
  w.gathers_input(z.residual * kept_input_bytes(w.s));
  w.forward.gemm(z.tokens, z.width, heads);
  b.weight_gradient(heads, z.width);
  adapt_first(w, Kind::query_key_value, heads);

  w.begin(Kind::feed_forward_in);
  w.owns(d(z.width) * d(inner));
  w.forward.gemm(z.tokens, z.width, inner);
  b.gather_input();
  b.gemm(z.tokens, inner, z.width);
  b.gemm(z.tokens, heads, z.width);
  add(b);
  b.weight_gradient_and([&](bool hide) { sum_input_gradient(b, hide); }, inner, z.width);
  adapt_first(w, Kind::feed_forward_in, inner);
}

/// Each behind its own norm. The input of both norms is kept once.
void own_inputs(Writer& w) {
  first_multiply(w, Kind::query_key_value, w.z.query_key_value());
  w.owns(query_key_value_biases(w.s, w.z));
  adapt_first(w, Kind::query_key_value, w.z.query_key_value());
  norm(w);
  w.saves(w.z.residual * kept_of_input(w.s, Kind::feed_forward_in));
  first_multiply(w, Kind::feed_forward_in, feed_forward_columns(w.s.model, w.z.ffn));
  adapt_first(w, Kind::feed_forward_in, feed_forward_columns(w.s.model, w.z.ffn));
}

}  // namespace

void parallel_block(Writer& w) {
  const StackSizes& z = w.z;
  PassWriter &f = w.forward, &b = w.backward;
  if (w.s.model.variations.parallel_block == ParallelBlock::one_norm) {
    norm_of_both_halves(w);
    common_input(w);
  } else {
    norm_of_half(w, Kind::query_key_value);
    own_inputs(w);
  }
  query_key_norms(w);
  attention_core(w, biased_scores(w.s.model));

  w.begin(Kind::attention_projection);
  w.owns(d(z.attention_out) * d(z.width));
  f.gemm(z.tokens, z.attention_out, z.width);
  b.gemm(z.tokens, z.width, z.attention_out);
  b.weight_gradient(z.width, z.attention_out);
  w.saves(kept_core_result(w.s, z));
  adapt_second(w, Kind::attention_projection, z.attention_out);

  activation(w, z.ffn);

  w.begin(Kind::feed_forward_out);
  w.owns(d(z.ffn) * d(z.width));
  f.gemm(z.tokens, z.ffn, z.width);
  if (z.split_sequence) {
    b.collective(Operation::all_gather);
    b.in_parts();
  }
  b.gemm(z.tokens, z.width, z.ffn);
  b.weight_gradient(z.width, z.ffn);
  w.saves(z.inner * kept_of_second_input(w.s, z));
  w.holds_gradients(feed_forward_gradients(w.s, z));
  adapt_second(w, Kind::feed_forward_out, z.ffn);

  w.begin(Kind::halves_sum);
  add(f);
  reduce_output(w);
  const LayerStyle style = layer_style(w.s.model);
  const double of_feed_forward = d(z.width) + d(feed_forward_columns(w.s.model, z.ffn));
  residual(w, (style.attention_biases ? d(z.width) : 0) + (style.feed_forward_biases ? of_feed_forward : 0));
}

}  // namespace stepcast::schedules
