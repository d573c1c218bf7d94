#include "schedules/model/parallel_block.h"

#include "schedules/model/attention.h"
#include "schedules/model/feed_forward.h"
#include "schedules/model/low_precision.h"
#include "schedules/model/sublayers.h"

namespace stepcast::schedules {
namespace {

using collectives::Operation;

double d(std::int64_t n) { return static_cast<double>(n); }

bool one_norm(const Scenario& s) { return s.model.variations.parallel_block == ParallelBlock::one_norm; }

/// Adds two results of all tokens: two reads and a write.
void add(Writer& w, std::string_view name) { w.touch(name, 3 * d(w.z.tokens) * d(w.z.width) * d(w.z.element)); }

void gathered_norm(Writer& w) {
  norm_forward(w);
  gather_input(w);
}

/// Backward of the two multiplies in front, whose inputs are the same norm's result: one sum over the tensor ranks.
void common_input_backward(Writer& w) {
  const StackSizes& z = w.z;
  const std::int64_t inner = feed_forward_columns(w, z.ffn);
  if (z.split_sequence) w.collective("all-gather of the input", Operation::all_gather, w.overlaps());
  w.gemm("feed-forward in: gradient of input", z.tokens, inner, z.width);
  w.gemm("queries, keys, values: gradient of input", z.tokens, z.query_key_value(), z.width);
  add(w, "sum of the input's gradients");
  w.weight_gradient_and([&](bool hide) { sum_input_gradient(w, hide); }, "feed-forward in: gradient of weight", inner,
                        z.width);
  w.weight_gradient("queries, keys, values: gradient of weight", z.query_key_value(), z.width);
  norm_backward(w);
}

void own_inputs_backward(Writer& w) {
  column_split_backward(w, "feed-forward in: gradient of input", "feed-forward in: gradient of weight",
                        feed_forward_columns(w, w.z.ffn));
  norm_backward(w);
  column_split_backward(w, "queries, keys, values: gradient of input", "queries, keys, values: gradient of weight",
                        w.z.query_key_value());
  norm_backward(w);
}

}  // namespace

void parallel_block(Writer& w) {
  const StackSizes& z = w.z;
  gathered_norm(w);
  w.gemm("queries, keys, values", z.tokens, z.width, z.query_key_value());
  query_key_norms(w);
  attention_core(w, biased_scores(w.s.model));
  w.gemm("attention projection", z.tokens, z.attention_out, z.width);
  if (!one_norm(w.s)) gathered_norm(w);
  w.gemm("feed-forward in", z.tokens, z.width, feed_forward_columns(w, z.ffn));
  activation_forward(w, z.ffn);
  w.gemm("feed-forward out", z.tokens, z.ffn, z.width);
  add(w, "sum of attention and feed-forward");
  reduce_output(w);
  residual_forward(w);
}

void parallel_block_backward(Writer& w) {
  const StackSizes& z = w.z;
  residual_backward(w);
  if (z.split_sequence) {
    w.collective("all-gather of the output's gradient", Operation::all_gather);
    w.in_parts();
  }
  w.gemm("feed-forward out: gradient of input", z.tokens, z.width, z.ffn);
  w.weight_gradient("feed-forward out: gradient of weight", z.width, z.ffn);
  activation_backward(w, z.ffn);
  w.gemm("attention projection: gradient of input", z.tokens, z.width, z.attention_out);
  w.weight_gradient("attention projection: gradient of weight", z.width, z.attention_out);
  attention_core_backward(w, biased_scores(w.s.model));
  query_key_norms_backward(w);
  if (one_norm(w.s))
    common_input_backward(w);
  else
    own_inputs_backward(w);
}

double saved_by_both_halves(const Scenario& s, const StackSizes& z) {
  const double input = d(z.element) + (has_dropout(s) ? kMask : 0);
  return z.residual * (input + (one_norm(s) ? kept_input_bytes(s) : 0));
}

}  // namespace stepcast::schedules
