#include "schedules/model/transformer.h"

#include <algorithm>

#include "schedules/memory/activations.h"

namespace stepcast::schedules {
namespace {

using collectives::Operation;

/// Sizes on one tensor rank, counted once.
struct Sizes {
  std::int64_t tokens;       ///< micro-batch x sequence
  std::int64_t batch_heads;  ///< micro-batch x heads of this rank
  std::int64_t sequence, head_width, hidden;
  std::int64_t query_key_value;  ///< columns of the fused projection on this rank
  std::int64_t attention_out;    ///< hidden / tensor
  std::int64_t ffn;              ///< inner width on this rank
  std::int64_t vocab;            ///< on this rank
  std::int64_t element;          ///< bytes
  double residual;               ///< elements of a layer's input on this rank: / tensor with sequence parallelism
  double inner;                  ///< tokens x ffn
  double scores;                 ///< batch_heads x sequence^2
  double hidden_bytes;           ///< of the whole layer input: what tensor collectives move
  bool split_sequence, several_ranks;
};

double d(std::int64_t n) { return static_cast<double>(n); }

Sizes sizes_of(const Scenario& s) {
  const std::int64_t t = s.parallelism.tensor;
  const Model& m = s.model;
  Sizes z{};
  z.tokens = s.training.micro_batch * s.training.sequence;
  z.batch_heads = s.training.micro_batch * m.heads / t;
  z.sequence = s.training.sequence;
  z.head_width = m.hidden / m.heads;
  z.hidden = m.hidden;
  z.attention_out = m.hidden / t;
  z.query_key_value = (m.hidden + 2 * z.head_width * m.kv_heads) / t;
  z.ffn = m.ffn / t;
  z.vocab = vocab_rows(m, s.parallelism.tensor);
  z.element = element_bytes(s.training.precision);
  z.split_sequence = s.parallelism.sequence && t > 1;
  z.several_ranks = t > 1;
  z.residual = d(z.tokens) * d(z.hidden) / (z.split_sequence ? d(t) : 1.0);
  z.inner = d(z.tokens) * d(z.ffn);
  z.scores = d(z.batch_heads) * d(z.sequence) * d(z.sequence);
  z.hidden_bytes = d(z.tokens) * d(z.hidden) * d(z.element);
  return z;
}

Bytes bytes(double n) { return {static_cast<std::int64_t>(n)}; }

/// Writes one pass's operators down in order.
class Writer {
 public:
  Writer(const Scenario& scenario, const Sizes& sizes) : s_(scenario), z_(sizes) {}
  Operators take() { return std::move(out_); }

  /// `m` x `k` times `k` x `n`. `add_to_gradient`: the result is added to the weight's main gradient.
  void gemm(std::string_view name, std::int64_t m, std::int64_t k, std::int64_t n, std::int64_t batch = 1) {
    out_.push_back(Gemm{name, {m, n, k, batch, z_.element, z_.element}});
  }

  /// Gradient of a weight of rows x columns, from `tokens` tokens, into the main gradient.
  void weight_gradient(std::string_view name, std::int64_t rows, std::int64_t columns) {
    const std::int64_t main = element_bytes(s_.software.main_gradient_precision);
    const bool fused = s_.software.fused_gradient_accumulation;
    out_.push_back(Gemm{name, {rows, columns, z_.tokens, 1, z_.element, fused ? 2 * main : z_.element}, true});
    if (!fused) {
      out_.push_back(Elementwise{"accumulate gradient", d(rows) * d(columns) * d(z_.element + 2 * main), 1, true});
    }
  }

  /// Streams `bytes_moved` through memory in `kernels` launches.
  void touch(std::string_view name, double bytes_moved, int kernels = 1) {
    out_.push_back(Elementwise{name, bytes_moved, kernels});
  }

  void collective(std::string_view name, Operation operation, bool under_next = false) {
    if (z_.several_ranks) out_.push_back(TensorCollective{name, operation, bytes(z_.hidden_bytes), under_next});
  }

  void fused_attention(std::string_view name, double flops, bool backward, int kernels) {
    const double rows = d(z_.batch_heads) * d(z_.sequence);
    out_.push_back(FusedAttention{name, {flops}, rows, backward, kernels});
  }

 private:
  const Scenario& s_;
  const Sizes& z_;
  Operators out_;
};

constexpr double kMask = 1;  // a dropout mask is one byte an element

void norm_forward(Writer& w, const Scenario& s, const Sizes& z) {
  w.touch(s.model.family == Family::llama ? "rms norm" : "layer norm", z.residual * 2 * d(z.element));
}

/// Reads the gradient and the input twice (once for the input's gradient, once for the parameters'), adds the
/// residual's gradient.
void norm_backward(Writer& w, const Scenario& s, const Sizes& z) {
  w.touch(s.model.family == Family::llama ? "rms norm gradient" : "layer norm gradient", z.residual * 5 * d(z.element),
          2);
  w.touch("residual gradient", z.residual * 3 * d(z.element));
}

bool has_dropout(const Scenario& s) { return s.model.family == Family::gpt && s.software.dropout; }
bool has_biases(const Scenario& s) { return s.model.family == Family::gpt && s.software.biases; }
bool plain_residual(const Scenario& s) { return !has_dropout(s) && !has_biases(s); }

/// gpt: bias, dropout and residual; llama: residual alone.
void residual_forward(Writer& w, const Scenario& s, const Sizes& z) {
  if (plain_residual(s)) {
    w.touch("residual", z.residual * 3 * d(z.element));
  } else if (s.software.fused_bias_dropout_add) {
    w.touch("bias, dropout, residual", z.residual * (3 * d(z.element) + kMask));
  } else {
    w.touch("bias, dropout, residual", z.residual * (7 * d(z.element) + kMask), 3);
  }
}

void residual_backward(Writer& w, const Scenario& s, const Sizes& z) {
  if (has_dropout(s)) w.touch("dropout gradient", z.residual * (2 * d(z.element) + kMask));
  if (has_biases(s)) w.touch("bias gradient", z.residual * d(z.element));
}

/// Scores, softmax, dropout, weighted sum: between the projections.
void core_forward(Writer& w, const Scenario& s, const Sizes& z) {
  if (s.model.family == Family::llama)
    w.touch("rotary positions", d(z.tokens) * d(z.query_key_value) * 2 * d(z.element), 2);
  if (attention(s) == Attention::flash) {
    w.fused_attention("attention", 4 * z.scores * d(z.head_width), false, 1);
    return;
  }
  w.gemm("attention scores", z.sequence, z.head_width, z.sequence, z.batch_heads);
  if (s.software.fused_softmax)
    w.touch("scale, mask, softmax", z.scores * 2 * d(z.element));
  else
    w.touch("scale, mask, softmax", z.scores * 8 * d(z.element), 4);
  if (has_dropout(s)) w.touch("attention dropout", z.scores * (2 * d(z.element) + kMask));
  w.gemm("attention over values", z.sequence, z.sequence, z.head_width, z.batch_heads);
  w.touch("heads to tokens", d(z.tokens) * d(z.attention_out) * 2 * d(z.element));
}

void core_backward(Writer& w, const Scenario& s, const Sizes& z) {
  if (attention(s) == Attention::flash) {
    w.fused_attention("attention gradient", 8 * z.scores * d(z.head_width), true, 2);
  } else {
    w.touch("tokens to heads", d(z.tokens) * d(z.attention_out) * 2 * d(z.element));
    w.gemm("attention over values: gradient of weights", z.sequence, z.head_width, z.sequence, z.batch_heads);
    w.gemm("attention over values: gradient of values", z.sequence, z.sequence, z.head_width, z.batch_heads);
    if (has_dropout(s)) w.touch("attention dropout gradient", z.scores * (2 * d(z.element) + kMask));
    if (s.software.fused_softmax)
      w.touch("softmax gradient", z.scores * 3 * d(z.element));
    else
      w.touch("softmax gradient", z.scores * 8 * d(z.element), 4);
    w.gemm("attention scores: gradient of queries", z.sequence, z.sequence, z.head_width, z.batch_heads);
    w.gemm("attention scores: gradient of keys", z.sequence, z.sequence, z.head_width, z.batch_heads);
  }
  if (s.model.family == Family::llama)
    w.touch("rotary positions gradient", d(z.tokens) * d(z.query_key_value) * 2 * d(z.element), 2);
  w.touch("join gradients of heads", d(z.tokens) * d(z.query_key_value) * 2 * d(z.element));
}

void activation_forward(Writer& w, const Scenario& s, const Sizes& z) {
  if (s.model.family == Family::llama)
    w.touch("SwiGLU", z.inner * 3 * d(z.element));
  else if (s.software.fused_bias_gelu)
    w.touch("bias, GELU", z.inner * 2 * d(z.element));
  else
    w.touch("bias, GELU", z.inner * 8 * d(z.element), 4);
}

void activation_backward(Writer& w, const Scenario& s, const Sizes& z) {
  if (s.model.family == Family::llama) {
    w.touch("SwiGLU gradient", z.inner * 5 * d(z.element));
  } else {
    w.touch("GELU gradient", z.inner * (s.software.fused_bias_gelu ? 3 : 9) * d(z.element),
            s.software.fused_bias_gelu ? 1 : 4);
    if (has_biases(s)) w.touch("bias gradient", z.inner * d(z.element));
  }
}

std::int64_t gate_and_up(const Scenario& s, const Sizes& z) {
  return s.model.family == Family::llama ? 2 * z.ffn : z.ffn;
}

/// A column-split linear layer needs the whole sequence; a row-split one leaves partial sums.
void gather_input(Writer& w, const Sizes& z) {
  if (z.split_sequence) w.collective("all-gather of the input", Operation::all_gather);
}
void reduce_output(Writer& w, const Sizes& z) {
  if (z.split_sequence)
    w.collective("reduce-scatter of the output", Operation::reduce_scatter);
  else
    w.collective("all-reduce of the output", Operation::all_reduce);
}

/// Backward of a row-split linear layer (rows x columns on this rank): its output's gradient comes in whole or split.
void row_split_backward(Writer& w, const Sizes& z, std::string_view input, std::string_view weight,
                        std::int64_t inner) {
  if (z.split_sequence) w.collective("all-gather of the output's gradient", Operation::all_gather);
  w.gemm(input, z.tokens, z.hidden, inner);
  w.weight_gradient(weight, z.hidden, inner);
}

/// Backward of a column-split one. With tensor_overlap the input is gathered again under the input-gradient multiply,
/// and the input's gradient is reduced under the weight-gradient multiply (Korthikanti et al. 2022, sec. 4.2.2
/// and 6.1).
void column_split_backward(Writer& w, const Scenario& s, const Sizes& z, std::string_view input,
                           std::string_view weight, std::int64_t columns) {
  const bool hide = s.software.tensor_overlap;
  if (z.split_sequence) w.collective("all-gather of the input", Operation::all_gather, hide);
  w.gemm(input, z.tokens, columns, z.hidden);
  if (!hide) {
    w.weight_gradient(weight, columns, z.hidden);
  }
  const Operation sum = z.split_sequence ? Operation::reduce_scatter : Operation::all_reduce;
  w.collective("sum of the input's gradient", sum, hide);
  if (hide) w.weight_gradient(weight, columns, z.hidden);
}

/// What one tensor rank does, in order, for one micro-batch.
struct LayerOperators {
  Operators forward, backward;
  Operators recompute_core;  // what selective recomputation repeats: the attention core
};

LayerOperators layer_operators(const Scenario& s) {
  const Sizes z = sizes_of(s);
  LayerOperators layer;

  Writer f(s, z);
  norm_forward(f, s, z);
  gather_input(f, z);
  f.gemm("queries, keys, values", z.tokens, z.hidden, z.query_key_value);
  core_forward(f, s, z);
  f.gemm("attention projection", z.tokens, z.attention_out, z.hidden);
  reduce_output(f, z);
  residual_forward(f, s, z);
  norm_forward(f, s, z);
  gather_input(f, z);
  f.gemm("feed-forward in", z.tokens, z.hidden, gate_and_up(s, z));
  activation_forward(f, s, z);
  f.gemm("feed-forward out", z.tokens, z.ffn, z.hidden);
  reduce_output(f, z);
  residual_forward(f, s, z);
  layer.forward = f.take();

  Writer b(s, z);
  residual_backward(b, s, z);
  row_split_backward(b, z, "feed-forward out: gradient of input", "feed-forward out: gradient of weight", z.ffn);
  activation_backward(b, s, z);
  column_split_backward(b, s, z, "feed-forward in: gradient of input", "feed-forward in: gradient of weight",
                        gate_and_up(s, z));
  norm_backward(b, s, z);
  residual_backward(b, s, z);
  row_split_backward(b, z, "attention projection: gradient of input", "attention projection: gradient of weight",
                     z.attention_out);
  core_backward(b, s, z);
  column_split_backward(b, s, z, "queries, keys, values: gradient of input",
                        "queries, keys, values: gradient of weight", z.query_key_value);
  norm_backward(b, s, z);
  layer.backward = b.take();

  if (attention(s) == Attention::unfused) {
    Writer r(s, z);
    core_forward(r, s, z);
    layer.recompute_core = r.take();
  }
  return layer;
}

/// What full recomputation repeats of a forward pass. Where it stops early, all up to the last multiply: its output is
/// an input of nothing in the layer's backward pass, unless dropout behind it has a mask.
Operators repeated(const Scenario& s, Operators forward) {
  if (!s.software.recompute_stops_early || !plain_residual(s)) return forward;
  const auto last = std::find_if(forward.rbegin(), forward.rend(),
                                 [](const Operator& op) { return std::holds_alternative<Gemm>(op); });
  if (last != forward.rend()) forward.erase(std::prev(last.base()), forward.end());
  return forward;
}

struct PartOperators {
  Operators forward, backward;
};

PartOperators embedding_operators(const Scenario& s) {
  const Sizes z = sizes_of(s);
  const double whole = d(z.tokens) * d(z.hidden);
  Writer f(s, z), b(s, z);
  f.touch("embedding look-up", whole * 2 * d(z.element), z.several_ranks ? 3 : 1);
  if (z.split_sequence)
    f.collective("reduce-scatter of embeddings", Operation::reduce_scatter);
  else
    f.collective("all-reduce of embeddings", Operation::all_reduce);
  if (s.model.family == Family::gpt) {
    f.touch("positions", z.residual * 3 * d(z.element));
    if (has_dropout(s)) {
      f.touch("embedding dropout", z.residual * (2 * d(z.element) + kMask));
      b.touch("embedding dropout gradient", z.residual * (2 * d(z.element) + kMask));
    }
  }
  if (z.split_sequence) b.collective("all-gather of embeddings' gradient", Operation::all_gather);
  // Scattered into the fp32 or fp16 main gradient row by row: read, add, write.
  b.touch("embedding gradient", whole * d(z.element + 2 * element_bytes(s.software.main_gradient_precision)));
  return {f.take(), b.take()};
}

PartOperators head_operators(const Scenario& s) {
  const Sizes z = sizes_of(s);
  const double logits = d(z.tokens) * d(z.vocab);
  constexpr double kFloat = 4;
  Writer f(s, z), b(s, z);
  norm_forward(f, s, z);
  gather_input(f, z);
  f.gemm("logits", z.tokens, z.hidden, z.vocab);
  // Each to fp32, and its logarithm of the softmax.
  if (s.software.logit_metrics > 0)
    f.touch("metrics of the logits", s.software.logit_metrics * logits * (d(z.element) + 3 * kFloat),
            2 * s.software.logit_metrics);
  if (s.software.fused_cross_entropy) {
    f.touch("cross entropy", logits * d(z.element));
    b.touch("cross entropy gradient", logits * 2 * d(z.element));
  } else {
    // To fp32; maximum; subtract it; exponential; sum; divide.
    f.touch("cross entropy", logits * (d(z.element) + kFloat + kFloat + 2 * kFloat + 2 * kFloat + kFloat + 2 * kFloat),
            6);
    // Times the loss's gradient; back to the training precision.
    b.touch("cross entropy gradient", logits * (2 * kFloat + kFloat + d(z.element)), 2);
  }
  column_split_backward(b, s, z, "logits: gradient of input", "logits: gradient of weight", z.vocab);
  norm_backward(b, s, z);
  return {f.take(), b.take()};
}

/// A layer's norms and the biases added after a row-split multiply stand on every tensor rank.
double layer_parameters_on_rank(const Scenario& s) {
  const double h = d(s.model.hidden), whole = s.model.family == Family::llama ? 2 * h : 4 * h + 2 * h;
  return (layer_parameters(s.model) - whole) / s.parallelism.tensor + whole;
}

/// What the feed-forward block's backward pass holds beside what was saved: gradients of its output, of what enters its
/// second multiply, and of what leaves its first.
double gradients_in_work(const Scenario& s, const Sizes& z) {
  return (z.residual + z.inner + d(z.tokens) * d(gate_and_up(s, z))) * d(z.element);
}

Block layer_block(const Scenario& s, const Sizes& z) {
  LayerOperators operators = layer_operators(s);
  Block layer{.name = "layer",
              .layer = true,
              .forward = std::move(operators.forward),
              .backward = std::move(operators.backward),
              .parameters = layer_parameters_on_rank(s),
              .saved = saved_activation_bytes(s, s.recompute),
              .working = saved_activation_bytes(s, Recompute::none) - saved_activation_bytes(s, s.recompute) +
                         gradients_in_work(s, z),
              .output = z.hidden_bytes};
  if (s.recompute == Recompute::full) layer.recompute = repeated(s, layer.forward);
  if (s.recompute == Recompute::selective) layer.recompute = std::move(operators.recompute_core);
  return layer;
}

}  // namespace

Blocks transformer_blocks(const Scenario& s) {
  const Sizes z = sizes_of(s);
  const double words = d(s.model.vocab) * d(s.model.hidden), matrix = d(z.vocab) * d(z.hidden);
  PartOperators embedding = embedding_operators(s), head = head_operators(s);
  const bool llama = s.model.family == Family::llama;
  constexpr double kFloat = 4;
  Blocks out;
  out.kinds.push_back({.name = "embedding",
                       .forward = std::move(embedding.forward),
                       .backward = std::move(embedding.backward),
                       .parameters = matrix + embedding_parameters(s.model, s.training.sequence) - words,
                       .saved = has_dropout(s) ? z.residual * kMask : 0,
                       .output = z.hidden_bytes});
  out.kinds.push_back(layer_block(s, z));
  // The norm's input and output; logits, and in fp32 for the loss.
  out.kinds.push_back(
      {.name = "head",
       .forward = std::move(head.forward),
       .backward = std::move(head.backward),
       .parameters = (llama ? 1 : 2) * d(z.hidden) + matrix,
       .working = 2 * z.residual * d(z.element) +
                  d(z.tokens) * d(z.vocab) * (d(z.element) + (s.software.fused_cross_entropy ? 0 : kFloat))});
  out.order.push_back(0);
  out.order.insert(out.order.end(), static_cast<std::size_t>(s.model.layers), 1);
  out.order.push_back(2);
  if (tied_embeddings(s.model)) out.tied = matrix;
  return out;
}

}  // namespace stepcast::schedules
