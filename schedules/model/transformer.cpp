#include "schedules/model/transformer.h"

#include <algorithm>

#include "schedules/memory/activations.h"
#include "schedules/model/attention.h"
#include "schedules/model/encoder.h"
#include "schedules/model/encoder_decoder.h"
#include "schedules/model/expert_load.h"
#include "schedules/model/experts.h"
#include "schedules/model/feed_forward.h"
#include "schedules/model/multiply_pair.h"
#include "schedules/model/parallel_block.h"
#include "schedules/model/selective.h"
#include "schedules/model/sublayers.h"

namespace stepcast::schedules {
namespace {

double d(std::int64_t n) { return static_cast<double>(n); }

struct PartOperators {
  Operators forward, backward;
};

/// Sizes beside the vocabulary's matrix, which may be narrower than the layers.
StackSizes word_sizes(const Scenario& s, const StackSizes& z) {
  if (s.model.variations.embedding_width == 0) return z;
  StackSizes words = z;
  words.hidden = words.width = s.model.variations.embedding_width;
  words.residual = d(z.tokens) * d(words.width);
  words.hidden_bytes = words.residual * d(z.element);
  return words;
}

/// What `write` writes with other sizes, at the end.
template <class Write>
void append_with(Writer& w, const StackSizes& sizes, const Write& write) {
  Writer other(w.s, sizes);
  write(other);
  w.append(other.take());
}

PartOperators embedding_operators(const Scenario& s, const StackSizes& z) {
  const StackSizes words = word_sizes(s, z);
  const bool projected = words.width != z.width;
  Writer f(s, z), b(s, z);
  append_with(f, words, look_up_forward);
  if (projected) f.gemm("embedding projection", z.tokens, words.width, z.width);
  if (layer_style(s.model).positions == Positions::learned) f.touch("positions", z.residual * 3 * d(z.element));
  if (s.model.variations.embedding_norm) norm_forward(f);
  if (has_dropout(s)) {
    f.touch("embedding dropout", z.residual * (2 * d(z.element) + kMask));
    b.touch("embedding dropout gradient", z.residual * (2 * d(z.element) + kMask));
  }
  if (s.model.variations.embedding_norm) b.touch("norm gradient", z.residual * 5 * d(z.element), 2);
  if (projected) {
    b.gemm("embedding projection: gradient of input", z.tokens, z.width, words.width);
    b.weight_gradient("embedding projection: gradient of weight", z.width, words.width);
  }
  append_with(b, words, look_up_backward);
  return {f.take(), b.take()};
}

PartOperators head_operators(const Scenario& s, const StackSizes& z) {
  const StackSizes words = word_sizes(s, z);
  const bool projected = words.width != z.width, norm = s.model.variations.final_norm;
  Writer f(s, z), b(s, z);
  if (norm) norm_forward(f);
  if (projected) f.gemm("head projection", z.tokens, z.width, words.width);
  append_with(f, words, [](Writer& w) {
    gather_input(w);
    logits_forward(w);
  });
  append_with(b, words, [&](Writer& w) {
    logits_loss_backward(w);
    column_split_backward(w, "logits: gradient of input", "logits: gradient of weight", z.vocab);
  });
  if (projected) {
    b.gemm("head projection: gradient of input", z.tokens, words.width, z.width);
    b.weight_gradient("head projection: gradient of weight", words.width, z.width);
  }
  if (norm) norm_backward(b);
  return {f.take(), b.take()};
}

/// Bytes: the inputs of its projection and norm, the mask of its dropout.
double saved_by_embedding(const Scenario& s, const StackSizes& z) {
  const Variations& own = s.model.variations;
  const double projection = d(z.tokens) * d(own.embedding_width) * d(z.element);
  return projection + z.residual * ((own.embedding_norm ? d(z.element) : 0) + (has_dropout(s) ? kMask : 0));
}

/// Of the head without the vocabulary's matrix.
double head_parameters(const Scenario& s, const StackSizes& z) {
  const Variations& own = s.model.variations;
  const double norm = own.final_norm ? (layer_style(s.model).rms_norm ? 1 : 2) * d(z.width) : 0;
  return norm + d(own.embedding_width) * d(z.width);
}

}  // namespace

Operators repeated(const Scenario& s, Operators forward) {
  if (!s.software.recompute_stops_early || has_dropout(s) || has_biases(s)) return forward;
  const auto last = std::find_if(forward.rbegin(), forward.rend(),
                                 [](const Operator& op) { return std::holds_alternative<Gemm>(op); });
  if (last != forward.rend()) forward.erase(std::prev(last.base()), forward.end());
  return forward;
}

void second_half(Writer& w, FeedForward kind) {
  norm_forward(w);
  if (kind == FeedForward::experts)
    expert_block(w);
  else
    feed_forward(w, w.z.ffn);
  residual_forward(w);
}

void second_half_backward(Writer& w, FeedForward kind) {
  residual_backward(w);
  if (kind == FeedForward::experts)
    expert_block_backward(w);
  else
    feed_forward_backward(w, w.z.ffn);
  norm_backward(w);
}

double gradients_in_work(const Scenario& s, const StackSizes& z, FeedForward kind) {
  if (kind == FeedForward::experts)
    return d(routing(s).received()) * d(s.model.hidden + 3 * s.model.experts.ffn) * d(z.element);
  const double in_columns = (is_gated(layer_style(s.model).activation) ? 2 : 1) * d(z.ffn);
  const double first = d(z.tokens) * in_columns * ranks_of_first_input(z);
  return (z.residual + z.inner * parts_of_second_input(z) + first) * d(z.element);
}

namespace {

/// Elements of the one of a layer's weights that is largest, on this rank once it is gathered: so many of it and of its
/// gradient are there at once.
double largest_weight(const Scenario& s, const StackSizes& z) {
  const std::int64_t in = z.ffn * (is_gated(layer_style(s.model).activation) ? 2 : 1);
  return d(z.width) * d(std::max(z.query_key_value(), in));
}

}  // namespace

Block layer_block(const Scenario& s, const StackSizes& z, FeedForward kind) {
  const TensorGrid& g = z.grid;
  const LayerParameters n = layer_parameters(s.model, kind, g.columns);
  const double of_ranks = n.whole / g.rows + n.biases / g.columns + (n.split - n.biases) / d(z.tensor);
  const double experts = n.experts / s.parallelism.expert;
  Block layer{.name = "layer",
              .layer = true,
              .parameters = of_ranks + experts,
              .expert_parameters = s.parallelism.expert > 1 ? experts : 0,
              .saved = saved_activation_bytes(s, z, s.recompute, kind),
              .output = z.hidden_bytes};
  layer.working = saved_activation_bytes(s, z, Recompute::none, kind) - layer.saved + gradients_in_work(s, z, kind);
  if (g.depth > 1) layer.working += 2 * largest_weight(s, z) * d(z.element);
  Writer f(s, z), b(s, z);
  if (s.model.variations.parallel_block != ParallelBlock::none) {
    parallel_block(f);
    parallel_block_backward(b);
  } else {
    self_attention(f);
    second_half(f, kind);
    second_half_backward(b, kind);
    self_attention_backward(b);
  }
  layer.forward = f.take();
  layer.backward = b.take();
  if (s.recompute == Recompute::full) layer.recompute = repeated(s, layer.forward);
  if (s.recompute == Recompute::selective) layer.recompute = repeated_modules(s, z, kind);
  return layer;
}

Blocks transformer_blocks(const Scenario& s) {
  if (s.model.family == Family::t5) return encoder_decoder_blocks(s);
  if (s.model.family == Family::bert || s.model.family == Family::vit) return encoder_blocks(s);
  const StackSizes z = stack_sizes(s, s.training.sequence, true);
  const double width = d(word_sizes(s, z).width);
  const double words = d(s.model.vocab) * d(embedding_width(s.model)), matrix = d(z.vocab) * width / z.grid.depth;
  const double gathered = z.grid.depth > 1 ? 2 * d(z.vocab) * d(z.width) * d(z.element) : 0;  // it and its gradient
  PartOperators embedding = embedding_operators(s, z), head = head_operators(s, z);
  Blocks out;
  out.kinds.push_back(
      {.name = "embedding",
       .forward = std::move(embedding.forward),
       .backward = std::move(embedding.backward),
       .parameters = matrix + (embedding_parameters(s.model, s.training.sequence) - words) / z.grid.rows,
       .saved = saved_by_embedding(s, z),
       .working = gathered,
       .output = z.hidden_bytes});
  const std::int64_t of_experts = expert_layers(s.model), dense = s.model.layers - of_experts;
  out.kinds.push_back(layer_block(s, z, of_experts > 0 ? FeedForward::experts : FeedForward::dense));
  // The norm's input and output besides the logits.
  out.kinds.push_back({.name = "head",
                       .forward = std::move(head.forward),
                       .backward = std::move(head.backward),
                       .parameters = head_parameters(s, z) + matrix,
                       .working = 2 * z.residual * d(z.element) + logits_working(s, z) + gathered});
  out.order.push_back(0);
  if (of_experts > 0 && dense > 0) {
    out.kinds.push_back(layer_block(s, z, FeedForward::dense));
    out.order.insert(out.order.end(), static_cast<std::size_t>(dense), 3);
  }
  out.order.insert(out.order.end(), static_cast<std::size_t>(of_experts > 0 ? of_experts : dense), 1);
  out.order.push_back(2);
  if (tied_embeddings(s.model)) out.tied = matrix;
  return out;
}

}  // namespace stepcast::schedules
