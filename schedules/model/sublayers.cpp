#include "schedules/model/sublayers.h"

namespace stepcast::schedules {
namespace {

using collectives::Operation;

double d(std::int64_t n) { return static_cast<double>(n); }

Bytes bytes(double n) { return {static_cast<std::int64_t>(n)}; }

}  // namespace

StackSizes stack_sizes(const Scenario& s, std::int64_t sequence, bool causal) {
  const std::int64_t t = s.parallelism.tensor;
  const Model& m = s.model;
  StackSizes z{};
  z.samples = s.training.micro_batch;
  z.tokens = s.training.micro_batch * sequence;
  z.batch_heads = s.training.micro_batch * m.heads / t;
  z.sequence = z.keys = sequence;
  z.head_width = head_width(m);
  z.hidden = m.hidden;
  z.queries = z.head_width * m.heads / t;
  z.query_key_value = z.head_width * (m.heads + 2 * m.kv_heads) / t;
  z.ffn = m.ffn / t;
  z.vocab = m.vocab > 0 ? vocab_rows(m, s.parallelism.tensor) : 0;
  z.element = element_bytes(s.training.precision);
  z.split_sequence = s.parallelism.sequence && t > 1;
  z.several_ranks = t > 1;
  z.residual = d(z.tokens) * d(z.hidden) / (z.split_sequence ? d(t) : 1.0);
  z.inner = d(z.tokens) * d(z.ffn);
  z.scores = d(z.batch_heads) * d(z.sequence) * d(z.keys);
  z.projected = d(z.tokens) * d(z.query_key_value);
  z.hidden_bytes = d(z.tokens) * d(z.hidden) * d(z.element);
  z.causal = causal;
  return z;
}

StackSizes cross_sizes(const StackSizes& queries, std::int64_t keys) {
  StackSizes z = queries;
  z.keys = keys;
  z.scores = d(z.batch_heads) * d(z.sequence) * d(z.keys);
  z.projected = d(z.tokens) * d(z.queries) + d(z.samples * keys) * d(z.query_key_value - z.queries);
  z.causal = false;
  return z;
}

void Writer::append(Operators more) {
  out_.insert(out_.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

void Writer::gemm(std::string_view name, std::int64_t m, std::int64_t k, std::int64_t n, std::int64_t batch) {
  out_.push_back(Gemm{name, {m, n, k, batch, z.element, z.element}});
}

void Writer::weight_gradient(std::string_view name, std::int64_t rows, std::int64_t columns, std::int64_t from) {
  const std::int64_t main = element_bytes(s.software.main_gradient_precision);
  const bool fused = s.software.fused_gradient_accumulation;
  const std::int64_t depth = from > 0 ? from : z.tokens;
  out_.push_back(Gemm{name, {rows, columns, depth, 1, z.element, fused ? 2 * main : z.element}, true});
  if (!fused) {
    out_.push_back(Elementwise{"accumulate gradient", d(rows) * d(columns) * d(z.element + 2 * main), 1, true});
  }
}

void Writer::touch(std::string_view name, double bytes_moved, int kernels) {
  out_.push_back(Elementwise{name, bytes_moved, kernels});
}

void Writer::collective(std::string_view name, Operation operation, bool under_next) {
  if (z.several_ranks) out_.push_back(TensorCollective{name, operation, bytes(z.hidden_bytes), under_next});
}

void Writer::fused_attention(std::string_view name, double flops, bool backward, int kernels) {
  const double rows = d(z.batch_heads) * d(z.sequence);
  out_.push_back(FusedAttention{name, {flops}, rows, backward, kernels, z.causal});
}

bool has_dropout(const Scenario& s) { return layer_style(s.model).dropout && s.software.dropout; }
bool has_biases(const Scenario& s) { return layer_style(s.model).biases && s.software.biases; }

void norm_forward(Writer& w) {
  w.touch(layer_style(w.s.model).rms_norm ? "rms norm" : "layer norm", w.z.residual * 2 * d(w.z.element));
}

/// Reads the gradient and the input twice (once for the input's gradient, once for the parameters'), adds the
/// residual's gradient.
void norm_backward(Writer& w) {
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

void attention_core_forward(Writer& w, bool positions) {
  const StackSizes& z = w.z;
  const double e = d(z.element);
  if (layer_style(w.s.model).rotary) w.touch("rotary positions", z.projected * 2 * e, 2);
  if (attention(w.s) == Attention::flash) {
    w.fused_attention("attention", 4 * z.scores * d(z.head_width), false, 1);
    return;
  }
  w.gemm("attention scores", z.sequence, z.head_width, z.keys, z.batch_heads);
  if (positions) w.touch("relative positions", (2 * z.scores + z.scores / d(z.samples)) * e);
  if (w.s.software.fused_softmax)
    w.touch("scale, mask, softmax", z.scores * 2 * e);
  else
    w.touch("scale, mask, softmax", z.scores * 8 * e, 4);
  if (has_dropout(w.s)) w.touch("attention dropout", z.scores * (2 * e + kMask));
  w.gemm("attention over values", z.sequence, z.keys, z.head_width, z.batch_heads);
  w.touch("heads to tokens", d(z.tokens) * d(z.queries) * 2 * e);
}

void attention_core_backward(Writer& w, bool positions) {
  const StackSizes& z = w.z;
  const double e = d(z.element);
  if (attention(w.s) == Attention::flash) {
    w.fused_attention("attention gradient", 8 * z.scores * d(z.head_width), true, 2);
  } else {
    w.touch("tokens to heads", d(z.tokens) * d(z.queries) * 2 * e);
    w.gemm("attention over values: gradient of weights", z.sequence, z.head_width, z.keys, z.batch_heads);
    w.gemm("attention over values: gradient of values", z.keys, z.sequence, z.head_width, z.batch_heads);
    if (has_dropout(w.s)) w.touch("attention dropout gradient", z.scores * (2 * e + kMask));
    if (w.s.software.fused_softmax)
      w.touch("softmax gradient", z.scores * 3 * e);
    else
      w.touch("softmax gradient", z.scores * 8 * e, 4);
    if (positions) w.touch("relative positions' gradient", (z.scores + 3 * z.scores / d(z.samples)) * e, 2);
    w.gemm("attention scores: gradient of queries", z.sequence, z.keys, z.head_width, z.batch_heads);
    w.gemm("attention scores: gradient of keys", z.keys, z.sequence, z.head_width, z.batch_heads);
  }
  if (layer_style(w.s.model).rotary) w.touch("rotary positions gradient", z.projected * 2 * e, 2);
  w.touch("join gradients of heads", z.projected * 2 * e);
}

namespace {

void activation_forward(Writer& w) {
  const double inner = w.z.inner * d(w.z.element);
  switch (layer_style(w.s.model).activation) {
    case Activation::swiglu:
      return w.touch("SwiGLU", inner * 3);
    case Activation::geglu:
      return w.touch("GEGLU", inner * 3);
    case Activation::relu:
      return w.touch("ReLU", inner * 2);
    case Activation::gelu:
      break;
  }
  if (w.s.software.fused_bias_gelu)
    w.touch("bias, GELU", inner * 2);
  else
    w.touch("bias, GELU", inner * 8, 4);
}

void activation_backward(Writer& w) {
  const double inner = w.z.inner * d(w.z.element);
  switch (layer_style(w.s.model).activation) {
    case Activation::swiglu:
      return w.touch("SwiGLU gradient", inner * 5);
    case Activation::geglu:
      return w.touch("GEGLU gradient", inner * 5);
    case Activation::relu:
      return w.touch("ReLU gradient", inner * 3);
    case Activation::gelu:
      break;
  }
  w.touch("GELU gradient", inner * (w.s.software.fused_bias_gelu ? 3 : 9), w.s.software.fused_bias_gelu ? 1 : 4);
  if (has_biases(w.s)) w.touch("bias gradient", inner);
}

std::int64_t inner_columns(const Writer& w) {
  return is_gated(layer_style(w.s.model).activation) ? 2 * w.z.ffn : w.z.ffn;
}

}  // namespace

void gather_input(Writer& w) {
  if (w.z.split_sequence) w.collective("all-gather of the input", Operation::all_gather);
}

void reduce_output(Writer& w) {
  if (w.z.split_sequence)
    w.collective("reduce-scatter of the output", Operation::reduce_scatter);
  else
    w.collective("all-reduce of the output", Operation::all_reduce);
}

void row_split_backward(Writer& w, std::string_view input, std::string_view weight, std::int64_t inner) {
  if (w.z.split_sequence) w.collective("all-gather of the output's gradient", Operation::all_gather);
  w.gemm(input, w.z.tokens, w.z.hidden, inner);
  w.weight_gradient(weight, w.z.hidden, inner);
}

void column_split_backward(Writer& w, std::string_view input, std::string_view weight, std::int64_t columns) {
  const bool hide = w.s.software.tensor_overlap;
  if (w.z.split_sequence) w.collective("all-gather of the input", Operation::all_gather, hide);
  w.gemm(input, w.z.tokens, columns, w.z.hidden);
  if (!hide) w.weight_gradient(weight, columns, w.z.hidden);
  const Operation sum = w.z.split_sequence ? Operation::reduce_scatter : Operation::all_reduce;
  w.collective("sum of the input's gradient", sum, hide);
  if (hide) w.weight_gradient(weight, columns, w.z.hidden);
}

void self_attention_forward(Writer& w) {
  norm_forward(w);
  gather_input(w);
  w.gemm("queries, keys, values", w.z.tokens, w.z.hidden, w.z.query_key_value);
  attention_core_forward(w, layer_style(w.s.model).relative_positions);
  w.gemm("attention projection", w.z.tokens, w.z.queries, w.z.hidden);
  reduce_output(w);
  residual_forward(w);
}

void self_attention_backward(Writer& w) {
  residual_backward(w);
  row_split_backward(w, "attention projection: gradient of input", "attention projection: gradient of weight",
                     w.z.queries);
  attention_core_backward(w, layer_style(w.s.model).relative_positions);
  column_split_backward(w, "queries, keys, values: gradient of input", "queries, keys, values: gradient of weight",
                        w.z.query_key_value);
  norm_backward(w);
}

void feed_forward_forward(Writer& w) {
  norm_forward(w);
  gather_input(w);
  w.gemm("feed-forward in", w.z.tokens, w.z.hidden, inner_columns(w));
  activation_forward(w);
  w.gemm("feed-forward out", w.z.tokens, w.z.ffn, w.z.hidden);
  reduce_output(w);
  residual_forward(w);
}

void feed_forward_backward(Writer& w) {
  residual_backward(w);
  row_split_backward(w, "feed-forward out: gradient of input", "feed-forward out: gradient of weight", w.z.ffn);
  activation_backward(w);
  column_split_backward(w, "feed-forward in: gradient of input", "feed-forward in: gradient of weight",
                        inner_columns(w));
  norm_backward(w);
}

namespace {

constexpr double kFloat = 4;

std::int64_t rows_of(const StackSizes& z, std::int64_t rows) { return rows > 0 ? rows : z.tokens; }

}  // namespace

void logits_forward(Writer& w, std::int64_t rows) {
  const double e = d(w.z.element), logits = d(rows_of(w.z, rows)) * d(w.z.vocab);
  w.gemm("logits", rows_of(w.z, rows), w.z.hidden, w.z.vocab);
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
  w.touch("embedding look-up", d(w.z.tokens) * d(w.z.hidden) * 2 * d(w.z.element), w.z.several_ranks ? 3 : 1);
  if (w.z.split_sequence)
    w.collective("reduce-scatter of embeddings", Operation::reduce_scatter);
  else
    w.collective("all-reduce of embeddings", Operation::all_reduce);
}

void look_up_backward(Writer& w) {
  if (w.z.split_sequence) w.collective("all-gather of embeddings' gradient", Operation::all_gather);
  // Scattered into the fp32 or fp16 main gradient row by row: read, add, write.
  w.touch("embedding gradient",
          d(w.z.tokens) * d(w.z.hidden) * d(w.z.element + 2 * element_bytes(w.s.software.main_gradient_precision)));
}

}  // namespace stepcast::schedules
