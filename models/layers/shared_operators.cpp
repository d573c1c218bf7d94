#include "models/layers/shared_operators.h"

#include <algorithm>
#include <bit>

#include "models/layers/adapter_counts.h"
#include "models/layers/as_double.h"
#include "models/layers/autocast.h"
#include "models/layers/autocast_kernels.h"
#include "models/layers/composite_operators.h"
#include "models/layers/kept_inputs.h"

namespace stepcast::schedules {
namespace {

using collectives::Operation;
using Kind = OperatorKind;

/// The kernels of a layer norm or an RMSNorm, after statistics that the tensor ranks of a row sum up.
/// `written`: bytes of an element of what it writes.
void layer_or_rms_norm(Writer& w, std::int64_t written) {
  const double input = w.z.residual_bytes(), output = w.z.residual * d(written);
  const bool rms = layer_style(w.s.model).rms_norm;
  w.begin(rms ? Kind::rms_norm : Kind::layer_norm);
  w.owns(d(layer_style(w.s.model).norm_parameters) * d(w.z.width));
  // Sums of a token's values and of their squares, or of these alone.
  w.forward.sum_statistics_over_rows(rms ? 1 : 2);
  w.backward.sum_statistics_over_rows(rms ? 1 : 2);
  if (rms && w.s.software.composite_operators) return composite_rms_norm(w, w.z.residual);
  w.forward.touch(input + output);
  // Reads the gradient and the input twice: once for the input's gradient, once for the parameters'.
  w.backward.touch(2 * output + 3 * input, 2);
}

/// What a norm has kept besides its input, by the stack.
void keep_composite(Writer& w) {
  if (layer_style(w.s.model).rms_norm && w.s.software.composite_operators) keep_composite_rms_norm(w, w.z.residual);
}

/// A norm, and the branch before it past which the residual goes.
void norm_at_branch(Writer& w, std::int64_t written) {
  w.begin(Kind::residual_branch);
  w.backward.touch(w.z.residual_bytes() * 3);
  layer_or_rms_norm(w, written);
}

void keep_norm(Writer& w) {
  w.saves(w.z.residual_bytes(), {});
  keep_composite(w);
}

}  // namespace

void norm(Writer& w) {
  norm_at_branch(w, normed_element(w.s));
  cast_for_multiplies(w, w.z.residual);
}

void plain_norm(Writer& w) {
  layer_or_rms_norm(w, w.z.residual_element);
  w.saves(w.z.residual_bytes());
  keep_composite(w);
}

void kept_norm(Writer& w) {
  norm_at_branch(w, normed_element(w.s));
  keep_norm(w);
  cast_for_multiplies(w, w.z.residual);
}

namespace {

void norm_with_output(Writer& w, double kept) {
  kept_norm(w);
  w.saves(w.z.residual * kept / ranks_of_first_input(w.z));
}

}  // namespace

void norm_of_half(Writer& w, OperatorKind behind) { norm_with_output(w, kept_of_input(w.s, behind)); }

void norm_of_both_halves(Writer& w) {
  const double attention = kept_of_input(w.s, Kind::query_key_value), rest = kept_of_input(w.s, Kind::feed_forward_in);
  norm_with_output(w, adapters_have_own_inputs(w.s) ? attention + rest : std::max(attention, rest));
}

void residual(Writer& w, double parameters) {
  const double e = d(w.z.element), stream = d(w.z.residual_element);
  const bool dropout = has_dropout(w.s), biases = parameters > 0 && w.s.software.biases;
  if (w.s.model.variations.post_norms) plain_norm(w);
  if (biases || parameters > 0) w.begin(Kind::bias);
  if (parameters > 0) w.owns(parameters);
  if (biases) w.backward.touch_for_weights(w.z.residual * e);
  if (!dropout && !biases) {
    w.begin(Kind::residual);
    w.reads_also(Kind::residual_branch);
    w.forward.touch(w.z.residual * (e + 2 * stream));
    return cast_gradient_of_branch(w.backward);
  }
  w.begin(Kind::bias_dropout_residual);
  w.reads_also(Kind::residual_branch);
  if (w.s.software.fused_bias_dropout_add)
    w.forward.touch(w.z.residual * (e + 2 * stream + (dropout ? kMask : 0)));
  else
    w.forward.touch(w.z.residual * (e + 2 * stream + (biases ? 2 * e : 0) + (dropout ? 2 * e + kMask : 0)),
                    1 + biases + dropout);
  cast_gradient_of_branch(w.backward);
  if (!dropout) return;
  w.backward.touch(w.z.residual * (2 * e + kMask));
  w.saves(w.z.residual * kMask, {});
}

void embedding_dropout(Writer& w) {
  if (!has_dropout(w.s)) return;
  w.begin(Kind::embedding_dropout);
  w.forward.touch(w.z.residual * (2 * d(w.z.residual_element) + kMask));
  w.backward.touch(w.z.residual * (2 * d(w.z.residual_element) + kMask));
  w.saves(w.z.residual * kMask);
}

void reduce_output(Writer& w) {
  if (!w.z.split_sequence) return w.forward.collective(Operation::all_reduce);
  w.forward.collective(Operation::reduce_scatter);
  w.forward.in_parts();
}

void row_split_backward(Writer& w, std::int64_t inner) {
  PassWriter& b = w.backward;
  if (w.z.split_sequence) {
    b.collective(Operation::all_gather);
    b.in_parts();
  }
  b.gather_weight(w.z.width, inner);
  b.gemm(w.z.tokens, w.z.width, inner);
  b.weight_gradient_and([&](bool hide) { b.sum_over_rows(inner, hide); }, w.z.width, inner);
}

void column_split_backward(Writer& w, std::int64_t columns) {
  PassWriter& b = w.backward;
  b.gather_input();
  b.gather_weight(columns, w.z.width);
  b.gemm(w.z.tokens, columns, w.z.width);
  b.weight_gradient_and([&](bool hide) { sum_input_gradient(b, hide); }, columns, w.z.width);
}

void sum_input_gradient(PassWriter& w, bool hide) {
  w.collective(w.z.split_sequence ? Operation::reduce_scatter : Operation::all_reduce, hide);
}

namespace {

std::int64_t rows_of(const StackSizes& z, std::int64_t rows) { return rows > 0 ? rows : z.tokens; }

double own_logits(const StackSizes& z, std::int64_t rows) { return d(rows_of(z, rows)) * d(z.vocab); }

/// Whether the tensor ranks of a row gather the logits, of which each has computed some columns.
bool gathers_logits(const Writer& w) { return !w.s.software.loss_parallel && w.z.grid.columns > 1; }

/// What the loss of a rank reads.
double logits_of_loss(const Writer& w, std::int64_t rows) {
  return own_logits(w.z, rows) * (gathers_logits(w) ? w.z.grid.columns : 1);
}

/// The ranks' columns lie behind each other as they arrive and are copied side by side; backward copies a rank's own
/// out of the gradient of all.
void gather_logits(Writer& w, std::int64_t rows) {
  if (!gathers_logits(w)) return;
  const double e = d(w.z.element), whole = logits_of_loss(w, rows) * e;
  w.forward.collective(Operation::all_gather, whole);
  w.forward.touch(2 * whole);
  w.backward.touch(2 * own_logits(w.z, rows) * e);
}

}  // namespace

void logits(Writer& w, std::int64_t rows, bool owns) {
  const StackSizes& z = w.z;
  w.begin(Kind::logits);
  if (owns) w.owns(d(z.vocab) * d(z.width) / z.grid.depth);
  w.gathers_input(z.residual * d(z.element));
  w.forward.gather_weight(z.vocab, z.width);
  w.forward.gemm(rows_of(z, rows), z.width, z.vocab);
  w.forward.sum_over_rows(z.vocab);
  gather_logits(w, rows);
  if (rows == 0) return column_split_backward(w, z.vocab);
  PassWriter& b = w.backward;
  b.gemm(rows, z.vocab, z.hidden);
  b.weight_gradient_and([&](bool hide) { sum_input_gradient(b, hide); }, z.vocab, z.hidden, rows);
}

std::int64_t loss_element(const Scenario& s) {
  return s.software.fused_cross_entropy != FusedLoss::no ? element_bytes(s.training.precision)
                                                         : element_bytes(Precision::fp32);
}

void cast_logits(Writer& w, std::int64_t rows) {
  const double e = d(w.z.element), logits = logits_of_loss(w, rows);
  // Each to fp32, and its logarithm of the softmax.
  if (const int metrics = w.s.software.logit_metrics; metrics > 0) {
    w.begin(Kind::logit_metrics);
    w.forward.touch(metrics * logits * (e + 3 * kFp32), 2 * metrics);
  }
  w.begin(Kind::logit_cast);
  const FusedLoss fused = w.s.software.fused_cross_entropy;
  const bool keeps_softmax = fused == FusedLoss::in_regions || (fused == FusedLoss::yes && w.s.software.fp32_softmax);
  w.saves(logits * (keeps_softmax ? kFp32 : e));
  if (fused == FusedLoss::yes && !w.s.software.fp32_loss) return;
  w.forward.touch(logits * (e + kFp32));  // in regions: and their maximum
  if (fused != FusedLoss::in_regions) w.backward.touch(logits * (kFp32 + e));
}

void loss_of_cast_logits(Writer& w, std::int64_t rows) {
  const double e = d(w.z.element), logits = logits_of_loss(w, rows);
  w.begin(Kind::cross_entropy);
  if (w.s.software.fused_cross_entropy == FusedLoss::in_regions) {
    // Exponential and sum, then division, each in place; the gradient in place, and as the logits are
    // (Megatron-LM @d98e8a64, megatron/core/fusions/fused_cross_entropy.py).
    w.forward.touch(logits * 4 * kFp32, 2);
    w.backward.touch(logits * (2 * kFp32 + e), 2);
    w.saves(logits * e);  // the gradient, at the peak
    return;
  }
  if (w.s.software.fused_cross_entropy == FusedLoss::yes) {
    const double read = w.s.software.fp32_loss ? kFp32 : e;
    w.forward.touch(logits * read);
    w.backward.touch(logits * 2 * read);
    if (w.s.software.fp32_loss) w.saves(logits * (kFp32 + e));  // their cast, and their gradient's
    return;
  }
  // Maximum; subtract it; exponential; sum; divide.
  w.forward.touch(logits * (kFp32 + 2 * kFp32 + 2 * kFp32 + kFp32 + 2 * kFp32), 5);
  w.backward.touch(logits * 2 * kFp32);  // times the loss's gradient
  w.saves(logits * kFp32 * w.s.software.fp32_logits);
}

void cross_entropy(Writer& w, std::int64_t rows) {
  cast_logits(w, rows);
  loss_of_cast_logits(w, rows);
}

void fused_linear_cross_entropy(Writer& w) {
  const StackSizes& z = w.z;
  const bool trained = !trains_adapters(w.s.training);
  const double e = d(z.element), matrix = d(z.vocab) * d(z.width);
  const auto parts_at_least = static_cast<std::uint64_t>((z.vocab + z.hidden - 1) / z.hidden);
  const auto tokens = static_cast<std::uint64_t>(z.tokens);
  const std::uint64_t part = std::bit_ceil((tokens + parts_at_least - 1) / parts_at_least);
  const auto rows = static_cast<std::int64_t>(std::min(part, tokens));
  const std::int64_t parts = (z.tokens + rows - 1) / rows;
  const auto kernels = static_cast<int>(parts);
  const double useful = d(z.tokens) / d(rows * parts);
  w.begin(Kind::logits);
  w.owns(matrix);
  w.forward.gemm(rows, z.width, z.vocab, parts, kernels, useful);
  w.forward.gemm(rows, z.vocab, z.width, parts, kernels, useful);
  if (trained) {
    w.forward.gemm(z.vocab, rows, z.width, parts, kernels, useful);
    w.forward.touch(d(parts) * matrix * 3 * e, kernels);  // added up
  }
  w.begin(Kind::cross_entropy);
  w.forward.touch(d(z.tokens) * d(z.vocab) * 3 * e, kernels);  // read for the loss, and once more for the gradient
  w.saves(z.residual * e);
  if (trained) w.saves(matrix * e);
  w.saves(d(rows) * d(z.vocab) * e);  // a part's logits, at the peak
  w.backward.touch(2 * z.residual * e);
  if (!trained) return;
  w.backward.touch(2 * matrix * e);
  const std::int64_t main = element_bytes(w.s.software.main_gradient_precision);
  w.backward.touch_for_weights(matrix * d(z.element + 2 * main));
}

void look_up(Writer& w, bool owns) {
  const StackSizes& z = w.z;
  w.begin(Kind::embedding);
  if (owns) w.owns(d(z.vocab) * d(z.width) / z.grid.depth);
  w.forward.gather_weight(z.vocab, z.width);
  w.forward.touch(d(z.tokens) * d(z.width) * 2 * d(z.residual_element), z.grid.columns > 1 ? 3 : 1);
  w.forward.collective(z.split_sequence ? Operation::reduce_scatter : Operation::all_reduce);
  if (z.split_sequence) w.backward.collective(Operation::all_gather);
  // Scattered into the fp32 or fp16 main gradient row by row: read, add, write.
  const std::int64_t main = element_bytes(w.s.software.main_gradient_precision);
  w.backward.touch_for_weights(d(z.tokens) * d(z.width) * d(z.residual_element + 2 * main));
  w.backward.scatter_gradient(z.vocab, z.width, main, false);
}

}  // namespace stepcast::schedules
