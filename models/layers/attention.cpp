#include "models/layers/attention.h"

#include "models/layers/adapters.h"
#include "models/layers/as_double.h"
#include "models/layers/autocast.h"
#include "models/layers/autocast_kernels.h"
#include "models/layers/composite_operators.h"
#include "models/layers/context_steps.h"
#include "models/layers/kept_inputs.h"
#include "models/layers/latent_attention.h"
#include "models/layers/low_precision.h"
#include "models/layers/multiply_pair.h"
#include "models/layers/shared_operators.h"

namespace stepcast::schedules {
namespace {

using collectives::Operation;
using Kind = OperatorKind;

bool latent(const Scenario& s) { return s.model.latent.kv_rank > 0; }

/// Values that get their positions by rotation: of queries and keys; with latent attention a part of them.
double rotated(const Scenario& s, const StackSizes& z) {
  return latent(s) ? d(z.tokens) * d((z.heads + 1) * s.model.latent.rotary) : z.projected;
}

/// Multiplies of the square of all tokens with all, this context rank's share, forward.
double core_flops(const StackSizes& z) { return 2 * z.scores * d(z.key_width + z.value_width) / d(z.context); }

double queries_bytes(const StackSizes& z) { return d(z.tokens) * d(z.queries) * d(z.element); }
double keys_values_bytes(const PassWriter& w) { return attended_keys_values(w.s, w.z) * d(w.z.element); }

/// Fused attention of one context rank. Every rank works on an early and a late part of the sequence, so that all skip
/// as much of the square (zig-zag).
void fused_forward(PassWriter& w) {
  const StackSizes& z = w.z;
  const double flops = core_flops(z);
  if (z.context == 1) return w.fused_attention(flops);
  if (goes_in_context_steps(w.s)) return context_steps_forward(w, flops);
  switch (w.s.parallelism.context_method) {
    case ContextMethod::ring:
      for (std::int64_t step = 0; step < z.context; ++step) {
        if (step + 1 < z.context) w.exchange(Among::context_ring, Operation::send_recv, keys_values_bytes(w), true);
        w.fused_attention(flops / d(z.context));
      }
      return;
    case ContextMethod::all_gather:
      w.exchange(Among::context, Operation::all_gather, keys_values_bytes(w) * d(z.context));
      return w.fused_attention(flops);
    case ContextMethod::ulysses:
      w.exchange(Among::context, Operation::all_to_all, queries_bytes(z) + keys_values_bytes(w));
      w.fused_attention(flops);
      w.exchange(Among::context, Operation::all_to_all, d(z.tokens) * d(z.attention_out) * d(z.element));
      return;
  }
}

void fused_backward(PassWriter& w) {
  const StackSizes& z = w.z;
  const double flops = 2 * core_flops(z);
  if (z.context == 1) return w.fused_attention(flops);
  if (goes_in_context_steps(w.s)) return context_steps_backward(w, flops);
  switch (w.s.parallelism.context_method) {
    case ContextMethod::ring:
      // Keys and values go round as in forward; their gradients follow one step behind, and one step more to be home.
      for (std::int64_t step = 0; step < z.context; ++step) {
        const int parts = (step + 1 < z.context ? 1 : 0) + (step > 0 ? 1 : 0);
        w.exchange(Among::context_ring, Operation::send_recv, parts * keys_values_bytes(w), true);
        w.fused_attention(flops / d(z.context));
      }
      w.exchange(Among::context_ring, Operation::send_recv, keys_values_bytes(w));
      return;
    case ContextMethod::all_gather:
      w.exchange(Among::context, Operation::all_gather, keys_values_bytes(w) * d(z.context));
      w.fused_attention(flops);
      w.exchange(Among::context, Operation::reduce_scatter, keys_values_bytes(w) * d(z.context));
      return;
    case ContextMethod::ulysses:
      w.exchange(Among::context, Operation::all_to_all, d(z.tokens) * d(z.attention_out) * d(z.element));
      w.fused_attention(flops);
      w.exchange(Among::context, Operation::all_to_all, queries_bytes(z) + keys_values_bytes(w));
      return;
  }
}

double result_elements(const StackSizes& z) { return d(z.tokens) * d(z.attention_out); }

/// Elements of queries, keys and values that are kept for the core. Where it gets keys and values as copies and queries
/// as a part of what the projection wrote, they are all of that and the copies.
double kept_for_core(const Scenario& s, const StackSizes& z) {
  const bool all_as_many = kv_heads(s.model) == s.model.heads && !latent(s);
  const double keys_values = z.projected - d(z.tokens) * d(z.queries);  // of the tokens that are looked at
  return z.projected + (s.software.copied_keys_values && all_as_many ? keys_values : 0);
}

/// Each head of keys and values once for every head of queries that attends to it.
void copy_keys_values(Writer& w) {
  const double once = d(w.z.tokens) * d(w.z.keys_values), copies = attended_keys_values(w.s, w.z);
  if (copies == once) return;
  w.begin(Kind::key_value_copies);
  w.forward.touch((once + copies) * d(w.z.element));
  w.backward.touch((once + copies) * d(w.z.element));  // the sum of the copies' gradients
  w.saves((copies - once) * d(w.z.element));           // attention keeps the copies
}

void fused_core(Writer& w) {
  const StackSizes& z = w.z;
  copy_keys_values(w);
  constexpr double kStatistic = 4;  // a float for each row of scores
  if (attends_in_eight_bits(w.s)) {
    constexpr double kCast = 2 + 1;  // bytes read and written of each number
    w.begin(Kind::cast);
    w.forward.touch(z.projected * kCast);
    w.backward.touch(result_elements(z) * kCast);  // the result's gradient
  }
  w.begin(Kind::fused_attention);
  fused_forward(w.forward);
  fused_backward(w.backward);
  w.saves(d(z.batch_heads) * d(z.sequence) / d(z.context) * kStatistic);
  // It keeps its result: the same tensor as the multiply behind it, if that takes it as it is.
  const bool as_it_is = keeps_input_as_it_is(w.s, Kind::attention_projection) && parts_of_second_input(z) == 1;
  if (!as_it_is) w.saves(result_elements(z) * d(z.element));
}

void bias_scores(Writer& w) {
  const StackSizes& z = w.z;
  const double e = d(z.element);
  if (layer_style(w.s.model).positions != Positions::relative) {
    w.begin(Kind::alibi);
    return w.forward.touch(2 * z.scores * e);  // one slope a head: what it reads is little
  }
  w.begin(Kind::relative_positions);
  w.forward.touch((2 * z.scores + z.scores / d(z.samples)) * e);
  w.backward.touch((z.scores + 3 * z.scores / d(z.samples)) * e, 2);
}

/// Whether the model's own code casts scores to fp32 for their softmax, and its result back.
bool casts_scores(const Writer& w) { return w.s.software.fp32_scores && !w.s.software.fused_softmax; }

/// Bytes of an element of the softmax.
double softmax_element(const Writer& w) { return casts_scores(w) ? kFp32 : d(normed_element(w.s)); }

/// Scale, mask and softmax, which autocast has in fp32: of bf16 by a cast before it, of fp16 as it reads (at::softmax
/// in PyTorch's aten/src/ATen/native/SoftMax.cpp).
void softmax(Writer& w) {
  const StackSizes& z = w.z;
  const double e = d(z.element), result = softmax_element(w);
  w.begin(Kind::softmax);
  if (w.s.software.fused_softmax) {
    w.forward.touch(z.scores * (e + result));
    w.backward.touch(z.scores * (2 * result + e));
  } else if (result == e) {
    w.forward.touch(z.scores * 8 * e, 4);
    w.backward.touch(z.scores * 8 * e, 4);
  } else {
    const int scale_and_mask = w.s.model.family == Family::vit ? 1 : 2;  // an image has no padding
    w.forward.touch(z.scores * scale_and_mask * 2 * e, scale_and_mask);
    if (w.s.training.precision == Precision::bf16) {
      w.forward.touch(z.scores * (e + 3 * result), 2);
      w.backward.touch(z.scores * (4 * result + e), 2);
    } else {
      w.forward.touch(z.scores * (e + result));
      w.backward.touch(z.scores * (2 * result + e));
    }
    w.backward.touch(z.scores * 2 * e);  // scale
  }
  w.saves(z.scores * result);
  // The gradient of the result and the one that is made of it; the kernel in one goes in place, but dropout's does not.
  const bool in_place = w.s.software.fused_softmax && !has_dropout(w.s);
  w.holds_gradients(z.scores * result * (in_place ? 1 : 2));
}

void unfused_core(Writer& w, bool biased) {
  const StackSizes& z = w.z;
  const double e = d(z.element);
  w.begin(Kind::attention_scores);
  w.forward.head_product(z.sequence, z.key_width, z.keys, z.batch_heads, z.key_width);
  w.backward.head_product(z.sequence, z.keys, z.key_width, z.batch_heads, z.key_width);
  w.backward.head_product(z.keys, z.sequence, z.key_width, z.batch_heads, z.key_width);

  if (biased) bias_scores(w);

  const double result = softmax_element(w);
  softmax(w);
  if (casts_scores(w)) {
    w.begin(Kind::cast);
    w.forward.touch(z.scores * (result + e));
    w.backward.touch(z.scores * (result + e));
  }
  if (has_dropout(w.s)) {
    const double dropped = casts_scores(w) ? e : result;
    w.begin(Kind::attention_dropout);
    w.forward.touch(z.scores * (2 * dropped + kMask));
    w.backward.touch(z.scores * (2 * dropped + kMask));
    w.saves(z.scores * kMask);
  }
  if (has_dropout(w.s) || result != e) w.saves(z.scores * e);  // what the values are multiplied by
  if (!casts_scores(w)) cast_for_multiplies(w, z.scores);

  w.begin(Kind::attention_values);
  w.forward.head_product(z.sequence, z.keys, z.value_width, z.batch_heads, z.value_width);
  w.backward.head_product(z.sequence, z.value_width, z.keys, z.batch_heads, z.value_width);
  w.backward.head_product(z.keys, z.sequence, z.value_width, z.batch_heads, z.value_width);

  w.begin(Kind::head_join);
  w.forward.touch(result_elements(z) * 2 * e);
  w.backward.touch(result_elements(z) * 2 * e);
}

double queries_and_keys(const StackSizes& z) {
  const std::int64_t keys = z.keys_values * z.key_width / (z.key_width + z.value_width);
  return d(z.tokens) * d(z.queries + keys);
}

/// Columns of the gate of attention's result, which comes from the layer's input with queries, keys and values.
std::int64_t gate_columns(const Writer& w) { return w.s.model.variations.attention_gate ? w.z.attention_out : 0; }

void gate_result(Writer& w) {
  if (!w.s.model.variations.attention_gate) return;
  const double bytes = result_elements(w.z) * d(w.z.element);
  w.begin(Kind::attention_gate);
  w.forward.touch(3 * bytes);
  w.backward.touch(5 * bytes);
  w.saves(2 * bytes);  // gate and result
}

}  // namespace

double query_key_value_biases(const Scenario& s, const StackSizes& z) {
  return layer_style(s.model).attention_biases || s.model.variations.qkv_bias ? d(z.query_key_value()) : 0;
}

void query_key_norms(Writer& w) {
  const QueryKeyNorm which = w.s.model.variations.qk_norm;
  if (which == QueryKeyNorm::none) return;
  const double bytes = queries_and_keys(w.z) * d(w.z.element);
  w.begin(Kind::query_key_norm);
  const double parameters =
      which == QueryKeyNorm::each_head ? 2 * d(head_width(w.s.model)) : queries_and_keys(w.z) / d(w.z.tokens);
  w.owns(parameters / w.z.grid.rows);
  w.forward.touch(bytes * 2, 2);
  w.backward.touch(bytes * 5, 4);
  w.saves(bytes);
}

/// Queries and keys turn by their places; one kernel takes values along.
void turn(Writer& w) {
  if (w.s.software.composite_operators)
    return composite_rotation(w, latent(w.s) ? rotated(w.s, w.z) : queries_and_keys(w.z));
  const double bytes = rotated(w.s, w.z) * 2 * d(w.z.element);
  w.forward.touch(bytes, 2);
  w.backward.touch(bytes, 2);
}

bool biased_scores(const Model& model) {
  const Positions positions = layer_style(model).positions;
  return positions == Positions::relative || positions == Positions::alibi;
}

void attention_core(Writer& w, bool biased) {
  const double e = d(w.z.element);
  // What the core keeps of queries, keys and values; backward joins their gradients.
  w.begin(Kind::head_gradients);
  w.backward.sum_over_kv_copies();
  w.backward.touch(w.z.projected * 2 * e);
  w.saves(kept_for_core(w.s, w.z) * e, {.latent_ups = true});

  if (layer_style(w.s.model).positions == Positions::rotary) {
    Writer rotary = w.inside({.attention_core = true, .latent_ups = true});
    rotary.begin(Kind::rotary_positions);
    turn(rotary);
  }

  Writer core = w.inside({.attention_core = true});
  if (attention(w.s) == Attention::flash)
    fused_core(core);
  else
    unfused_core(core, biased);
}

double kept_core_result(const Scenario& s, const StackSizes& z) {
  return result_elements(z) * kept_of_input(s, Kind::attention_projection) * parts_of_second_input(z);
}

void self_attention(Writer& w) {
  if (latent(w.s)) {
    Writer norms = w.inside({.norms = true});
    norm_of_half(norms, Kind::queries_down);
    latent_projections(w);
  } else {
    norm_of_half(w, Kind::query_key_value);
    first_multiply(w, Kind::query_key_value, w.z.query_key_value() + gate_columns(w));
    w.owns(query_key_value_biases(w.s, w.z));
    adapt_first(w, Kind::query_key_value, w.z.query_key_value());
  }
  query_key_norms(w);
  attention_core(w, biased_scores(w.s.model));
  gate_result(w);
  second_multiply(w, Kind::attention_projection, w.z.attention_out);
  w.saves(kept_core_result(w.s, w.z));
  adapt_second(w, Kind::attention_projection, w.z.attention_out);
  residual(w, layer_style(w.s.model).attention_biases ? d(w.z.width) : 0);
}

}  // namespace stepcast::schedules
