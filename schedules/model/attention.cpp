#include "schedules/model/attention.h"

#include "schedules/model/latent_attention.h"
#include "schedules/model/multiply_pair.h"
#include "schedules/model/sublayers.h"

namespace stepcast::schedules {
namespace {

using collectives::Operation;

double d(std::int64_t n) { return static_cast<double>(n); }

bool latent(const Scenario& s) { return s.model.latent.kv_rank > 0; }

/// Values that get their positions by rotation: of queries and keys; with latent attention a part of them.
double rotated(const Scenario& s, const StackSizes& z) {
  return latent(s) ? d(z.tokens) * d((z.heads + 1) * s.model.latent.rotary) : z.projected;
}

/// Multiplies of the square of all tokens with all, this context rank's share, forward.
double core_flops(const StackSizes& z) { return 2 * z.scores * d(z.key_width + z.value_width) / d(z.context); }

double keys_values_bytes(const StackSizes& z) { return d(z.tokens) * d(z.keys_values) * d(z.element); }

/// Fused attention of one context rank. Every rank works on an early and a late part of the sequence, so that all skip
/// as much of the square (zig-zag).
void fused_core(Writer& w) {
  const StackSizes& z = w.z;
  const double flops = core_flops(z);
  if (z.context == 1) return w.fused_attention("attention", flops, false);
  switch (w.s.parallelism.context_method) {
    case ContextMethod::ring:
      for (std::int64_t step = 0; step < z.context; ++step) {
        if (step + 1 < z.context)
          w.exchange("keys and values to the next rank", Among::context_ring, Operation::send_recv,
                     keys_values_bytes(z), true);
        w.fused_attention("attention to one rank's keys", flops / d(z.context), false);
      }
      return;
    case ContextMethod::all_gather:
      w.exchange("all-gather of keys and values", Among::context, Operation::all_gather,
                 keys_values_bytes(z) * d(z.context));
      return w.fused_attention("attention", flops, false);
    case ContextMethod::ulysses:
      w.exchange("all-to-all of queries, keys, values", Among::context, Operation::all_to_all,
                 d(z.tokens) * d(z.query_key_value()) * d(z.element));
      w.fused_attention("attention", flops, false);
      w.exchange("all-to-all of results", Among::context, Operation::all_to_all,
                 d(z.tokens) * d(z.attention_out) * d(z.element));
      return;
  }
}

void fused_core_backward(Writer& w) {
  const StackSizes& z = w.z;
  const double flops = 2 * core_flops(z);
  if (z.context == 1) return w.fused_attention("attention gradient", flops, true);
  switch (w.s.parallelism.context_method) {
    case ContextMethod::ring:
      // Keys and values go round as in forward; their gradients follow one step behind, and one step more to be home.
      for (std::int64_t step = 0; step < z.context; ++step) {
        const int parts = (step + 1 < z.context ? 1 : 0) + (step > 0 ? 1 : 0);
        w.exchange("keys, values and their gradients to the next rank", Among::context_ring, Operation::send_recv,
                   parts * keys_values_bytes(z), true);
        w.fused_attention("attention gradient of one rank's keys", flops / d(z.context), true);
      }
      w.exchange("gradients of keys and values home", Among::context_ring, Operation::send_recv, keys_values_bytes(z));
      return;
    case ContextMethod::all_gather:
      w.exchange("all-gather of keys and values", Among::context, Operation::all_gather,
                 keys_values_bytes(z) * d(z.context));
      w.fused_attention("attention gradient", flops, true);
      w.exchange("sum of gradients of keys and values", Among::context, Operation::reduce_scatter,
                 keys_values_bytes(z) * d(z.context));
      return;
    case ContextMethod::ulysses:
      w.exchange("all-to-all of results' gradient", Among::context, Operation::all_to_all,
                 d(z.tokens) * d(z.attention_out) * d(z.element));
      w.fused_attention("attention gradient", flops, true);
      w.exchange("all-to-all of gradients of queries, keys, values", Among::context, Operation::all_to_all,
                 d(z.tokens) * d(z.query_key_value()) * d(z.element));
      return;
  }
}

}  // namespace

namespace {

double queries_and_keys(const StackSizes& z) {
  const std::int64_t keys = z.keys_values * z.key_width / (z.key_width + z.value_width);
  return d(z.tokens) * d(z.queries + keys);
}

bool turns(const Scenario& s) { return layer_style(s.model).positions == Positions::rotary; }

bool relative(const Scenario& s) { return layer_style(s.model).positions == Positions::relative; }

}  // namespace

void query_key_norms(Writer& w) {
  if (w.s.model.variations.qk_norm)
    w.touch("rms norm of queries and keys", queries_and_keys(w.z) * 2 * d(w.z.element), 2);
}

void query_key_norms_backward(Writer& w) {
  if (w.s.model.variations.qk_norm)
    w.touch("rms norm gradient of queries and keys", queries_and_keys(w.z) * 5 * d(w.z.element), 4);
}

double saved_by_query_key_norms(const Scenario& s, const StackSizes& z) {
  return s.model.variations.qk_norm ? queries_and_keys(z) * d(z.element) : 0;
}

bool biased_scores(const Model& model) {
  const Positions positions = layer_style(model).positions;
  return positions == Positions::relative || positions == Positions::alibi;
}

void rotary_positions(Writer& w) {
  if (turns(w.s)) w.touch("rotary positions", rotated(w.s, w.z) * 2 * d(w.z.element), 2);
}

void attention_core(Writer& w, bool biased) {
  const StackSizes& z = w.z;
  const double e = d(z.element);
  rotary_positions(w);
  if (attention(w.s) == Attention::flash) return fused_core(w);
  w.product("attention scores", z.sequence, z.key_width, z.keys, z.batch_heads);
  if (biased && relative(w.s)) w.touch("relative positions", (2 * z.scores + z.scores / d(z.samples)) * e);
  if (biased && !relative(w.s)) w.touch("ALiBi", 2 * z.scores * e);  // one slope a head: what it reads is little
  if (w.s.software.fused_softmax)
    w.touch("scale, mask, softmax", z.scores * 2 * e);
  else
    w.touch("scale, mask, softmax", z.scores * 8 * e, 4);
  if (has_dropout(w.s)) w.touch("attention dropout", z.scores * (2 * e + kMask));
  w.product("attention over values", z.sequence, z.keys, z.value_width, z.batch_heads);
  w.touch("heads to tokens", d(z.tokens) * d(z.attention_out) * 2 * e);
}

void attention_core_backward(Writer& w, bool biased) {
  const StackSizes& z = w.z;
  const double e = d(z.element);
  if (attention(w.s) == Attention::flash) {
    fused_core_backward(w);
  } else {
    w.touch("tokens to heads", d(z.tokens) * d(z.attention_out) * 2 * e);
    w.product("attention over values: gradient of weights", z.sequence, z.value_width, z.keys, z.batch_heads);
    w.product("attention over values: gradient of values", z.keys, z.sequence, z.value_width, z.batch_heads);
    if (has_dropout(w.s)) w.touch("attention dropout gradient", z.scores * (2 * e + kMask));
    if (w.s.software.fused_softmax)
      w.touch("softmax gradient", z.scores * 3 * e);
    else
      w.touch("softmax gradient", z.scores * 8 * e, 4);
    if (biased && relative(w.s))
      w.touch("relative positions' gradient", (z.scores + 3 * z.scores / d(z.samples)) * e, 2);
    w.product("attention scores: gradient of queries", z.sequence, z.keys, z.key_width, z.batch_heads);
    w.product("attention scores: gradient of keys", z.keys, z.sequence, z.key_width, z.batch_heads);
  }
  if (turns(w.s)) w.touch("rotary positions gradient", rotated(w.s, z) * 2 * e, 2);
  w.sum_over_kv_copies();
  w.touch("join gradients of heads", z.projected * 2 * e);
}

void self_attention(Writer& w) {
  norm_forward(w);
  if (latent(w.s))
    latent_projections(w);
  else
    first_multiply(w, "queries, keys, values", w.z.query_key_value());
  query_key_norms(w);
  attention_core(w, biased_scores(w.s.model));
  second_multiply(w, "attention projection", w.z.attention_out);
  residual_forward(w);
}

void self_attention_backward(Writer& w) {
  residual_backward(w);
  second_multiply_backward(w, "attention projection: gradient of input", "attention projection: gradient of weight",
                           w.z.attention_out);
  attention_core_backward(w, biased_scores(w.s.model));
  query_key_norms_backward(w);
  if (latent(w.s))
    latent_projections_backward(w);
  else
    first_multiply_backward(w, "queries, keys, values: gradient of input", "queries, keys, values: gradient of weight",
                            w.z.query_key_value());
  norm_backward(w);
}

}  // namespace stepcast::schedules
