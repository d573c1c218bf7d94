#include "schedules/model/sublayers.h"

namespace stepcast::schedules {
namespace {

using collectives::Operation;

double d(std::int64_t n) { return static_cast<double>(n); }

}  // namespace

void norm_forward(Writer& w) {
  // Sums of a token's values and of their squares, or of these alone.
  w.sum_statistics_over_rows("all-reduce of the norm's statistics", layer_style(w.s.model).rms_norm ? 1 : 2);
  w.touch(layer_style(w.s.model).rms_norm ? "rms norm" : "layer norm", w.z.residual * 2 * d(w.z.element));
}

/// Reads the gradient and the input twice (once for the input's gradient, once for the parameters'), adds the
/// residual's gradient.
void norm_backward(Writer& w) {
  w.sum_statistics_over_rows("all-reduce of the norm's gradients", layer_style(w.s.model).rms_norm ? 1 : 2);
  w.touch(layer_style(w.s.model).rms_norm ? "rms norm gradient" : "layer norm gradient",
          w.z.residual * 5 * d(w.z.element), 2);
  w.touch("residual gradient", w.z.residual * 3 * d(w.z.element));
}

void residual_forward(Writer& w) {
  const double e = d(w.z.element);
  const bool dropout = has_dropout(w.s), biases = has_biases(w.s);
  if (!dropout && !biases) {
    w.touch("residual", w.z.residual * 3 * e);
  } else if (w.s.software.fused_bias_dropout_add) {
    w.touch("bias, dropout, residual", w.z.residual * (3 * e + (dropout ? kMask : 0)));
  } else {
    w.touch("bias, dropout, residual", w.z.residual * (3 * e + (biases ? 2 * e : 0) + (dropout ? 2 * e + kMask : 0)),
            1 + biases + dropout);
  }
}

void residual_backward(Writer& w) {
  if (has_dropout(w.s)) w.touch("dropout gradient", w.z.residual * (2 * d(w.z.element) + kMask));
  if (has_biases(w.s)) w.touch("bias gradient", w.z.residual * d(w.z.element));
}

void gather_input(Writer& w) {
  if (!w.z.split_sequence) return;
  w.collective("all-gather of the input", Operation::all_gather);
  w.in_parts();
}

void reduce_output(Writer& w) {
  if (!w.z.split_sequence) return w.collective("all-reduce of the output", Operation::all_reduce);
  w.collective("reduce-scatter of the output", Operation::reduce_scatter);
  w.in_parts();
}

void row_split_backward(Writer& w, std::string_view input, std::string_view weight, std::int64_t inner) {
  if (w.z.split_sequence) {
    w.collective("all-gather of the output's gradient", Operation::all_gather);
    w.in_parts();
  }
  w.gather_weight(w.z.width, inner);
  w.gemm(input, w.z.tokens, w.z.width, inner);
  w.weight_gradient_and([&](bool hide) { w.sum_over_rows("sum of the input's gradient over rows", inner, hide); },
                        weight, w.z.width, inner);
}

void column_split_backward(Writer& w, std::string_view input, std::string_view weight, std::int64_t columns) {
  if (w.z.split_sequence) w.collective("all-gather of the input", Operation::all_gather, w.overlaps());
  w.gather_weight(columns, w.z.width);
  w.gemm(input, w.z.tokens, columns, w.z.width);
  w.weight_gradient_and([&](bool hide) { sum_input_gradient(w, hide); }, weight, columns, w.z.width);
}

void sum_input_gradient(Writer& w, bool hide) {
  const Operation sum = w.z.split_sequence ? Operation::reduce_scatter : Operation::all_reduce;
  w.collective("sum of the input's gradient", sum, hide);
}

namespace {

constexpr double kFloat = 4;

std::int64_t rows_of(const StackSizes& z, std::int64_t rows) { return rows > 0 ? rows : z.tokens; }

}  // namespace

void logits_forward(Writer& w, std::int64_t rows) {
  const double e = d(w.z.element), logits = d(rows_of(w.z, rows)) * d(w.z.vocab);
  w.gather_weight(w.z.vocab, w.z.width);
  w.gemm("logits", rows_of(w.z, rows), w.z.width, w.z.vocab);
  w.sum_over_rows("sum of the logits over rows", w.z.vocab);
  // Each to fp32, and its logarithm of the softmax.
  if (w.s.software.logit_metrics > 0)
    w.touch("metrics of the logits", w.s.software.logit_metrics * logits * (e + 3 * kFloat),
            2 * w.s.software.logit_metrics);
  if (w.s.software.fused_cross_entropy)
    w.touch("cross entropy", logits * e);
  else  // To fp32; maximum; subtract it; exponential; sum; divide.
    w.touch("cross entropy", logits * (e + kFloat + kFloat + 2 * kFloat + 2 * kFloat + kFloat + 2 * kFloat), 6);
}

void logits_loss_backward(Writer& w, std::int64_t rows) {
  const double e = d(w.z.element), logits = d(rows_of(w.z, rows)) * d(w.z.vocab);
  if (w.s.software.fused_cross_entropy)
    w.touch("cross entropy gradient", logits * 2 * e);
  else  // Times the loss's gradient; back to the training precision.
    w.touch("cross entropy gradient", logits * (2 * kFloat + kFloat + e), 2);
}

double logits_working(const Scenario& s, const StackSizes& z, std::int64_t rows) {
  return d(rows_of(z, rows)) * d(z.vocab) * (d(z.element) + (s.software.fused_cross_entropy ? 0 : kFloat));
}

void look_up_forward(Writer& w) {
  w.gather_weight(w.z.vocab, w.z.width);
  w.touch("embedding look-up", d(w.z.tokens) * d(w.z.width) * 2 * d(w.z.element), w.z.grid.columns > 1 ? 3 : 1);
  if (w.z.split_sequence)
    w.collective("reduce-scatter of embeddings", Operation::reduce_scatter);
  else
    w.collective("all-reduce of embeddings", Operation::all_reduce);
}

void look_up_backward(Writer& w) {
  if (w.z.split_sequence) w.collective("all-gather of embeddings' gradient", Operation::all_gather);
  // Scattered into the fp32 or fp16 main gradient row by row: read, add, write.
  const std::int64_t main = element_bytes(w.s.software.main_gradient_precision);
  w.touch("embedding gradient", d(w.z.tokens) * d(w.z.width) * d(w.z.element + 2 * main));
  w.scatter_gradient(w.z.vocab, w.z.width, main, false);
}

}  // namespace stepcast::schedules
