#include "models/layers/transformer.h"

#include <utility>

#include "models/layers/as_double.h"
#include "models/layers/block_of.h"
#include "models/layers/encoder.h"
#include "models/layers/encoder_decoder.h"
#include "models/layers/partition.h"
#include "models/layers/sublayers.h"
#include "models/layers/transformer_layer.h"

namespace stepcast::schedules {
namespace {

using Kind = OperatorKind;

/// Sizes beside the vocabulary's matrix, which may be narrower than the layers.
StackSizes word_sizes(const Scenario& s, const StackSizes& z) {
  if (s.model.variations.embedding_width == 0) return z;
  StackSizes words = z;
  words.hidden = words.width = s.model.variations.embedding_width;
  words.residual = d(z.tokens) * d(words.width);
  words.hidden_bytes = words.residual * d(z.element);
  return words;
}

/// Between the width of the vocabulary's matrix and that of the layers, where they differ.
void projection(Writer& w, Kind kind, std::int64_t in, std::int64_t out) {
  if (w.s.model.variations.embedding_width == 0) return;
  w.begin(kind);
  w.owns(d(in) * d(out));
  w.forward.gemm(w.z.tokens, in, out);
  w.backward.gemm(w.z.tokens, out, in);
  w.backward.weight_gradient(out, in);
}

/// The vocabulary's matrix and its gradient, which ranks in depth gather to work on it.
double gathered_words(const StackSizes& z) { return z.grid.depth > 1 ? 2 * d(z.vocab) * d(z.width) * d(z.element) : 0; }

void learned_positions(Writer& w) {
  const Model& m = w.s.model;
  if (layer_style(m).positions != Positions::learned) return;
  w.begin(Kind::positions);
  w.owns(d(m.positions > 0 ? m.positions : w.s.training.sequence) * d(w.z.width));
  w.forward.touch(w.z.residual * 3 * d(w.z.element));
}

/// A norm that no residual goes past.
void embedding_norm(Writer& w) {
  if (!w.s.model.variations.embedding_norm) return;
  const bool rms = layer_style(w.s.model).rms_norm;
  w.begin(rms ? Kind::rms_norm : Kind::layer_norm);
  w.owns((rms ? 1 : 2) * d(w.z.width));
  w.forward.sum_statistics_over_rows(rms ? 1 : 2);
  w.forward.touch(w.z.residual * 2 * d(w.z.element));
  w.backward.touch(w.z.residual * 5 * d(w.z.element), 2);
  w.saves(w.z.residual * d(w.z.element));
}

Block embedding(const Scenario& s, const StackSizes& z) {
  const StackSizes words = word_sizes(s, z);
  OperatorList list;
  Writer w(s, z, list), of_words = w.with(words);
  look_up(of_words);
  projection(w, Kind::embedding_projection, words.width, z.width);
  if (s.model.variations.embedding_width > 0) w.saves(d(z.tokens) * d(words.width) * d(z.element));
  learned_positions(w);
  embedding_norm(w);
  embedding_dropout(w);
  Block block = part_block("embedding", std::move(list), z.hidden_bytes);
  block.working = gathered_words(z);
  return block;
}

/// Of all tensor ranks of a row.
double logit_bytes(const StackSizes& z, std::int64_t element) {
  return d(z.tokens) * d(z.vocab) * d(element) * z.grid.columns;
}

/// The last norm and the logits, with the loss unless that is a block of its own.
Block head(const Scenario& s, const StackSizes& z) {
  const StackSizes words = word_sizes(s, z);
  OperatorList list;
  Writer w(s, z, list), of_words = w.with(words);
  if (s.model.variations.final_norm) norm(w);
  projection(w, Kind::head_projection, z.width, words.width);
  logits(of_words);
  w.saves(2 * z.residual * d(z.element));  // the norm's input and output
  if (has_loss_block(s)) {
    Block block = part_block("head", std::move(list), logit_bytes(z, z.element));
    block.output_split = true;
    block.working = gathered_words(z);
    return block;
  }
  cross_entropy(of_words);
  Block block = part_block("head", std::move(list));
  block.working = std::exchange(block.saved, 0) + gathered_words(z);  // its backward follows at once
  return block;
}

/// Logits in the precision of the loss.
Block cast(const Scenario& s, const StackSizes& z) {
  OperatorList list;
  Writer w(s, z, list);
  cast_logits(w);
  Block block = part_block("cast", std::move(list), logit_bytes(z, loss_element(s)));
  block.output_split = true;
  return block;
}

Block loss(const Scenario& s, const StackSizes& z) {
  OperatorList list;
  Writer w(s, z, list);
  loss_of_cast_logits(w);
  Block block = part_block("loss", std::move(list));
  block.working = std::exchange(block.saved, 0);
  return block;
}

}  // namespace

Blocks transformer_blocks(const Scenario& s) {
  if (s.model.family == Family::t5) return encoder_decoder_blocks(s);
  if (s.model.family == Family::bert || s.model.family == Family::vit) return encoder_blocks(s);
  const StackSizes z = stack_sizes(s, s.training.sequence, true);
  const auto layer = [&](FeedForward kind) {
    return layer_block(s, "layer", layer_operators(s, z, kind), z.hidden_bytes);
  };
  const std::int64_t of_experts = expert_layers(s.model), dense = s.model.layers - of_experts;
  Blocks out;
  out.kinds.push_back(embedding(s, z));
  out.kinds.push_back(layer(of_experts > 0 ? FeedForward::experts : FeedForward::dense));
  out.kinds.push_back(head(s, z));
  out.order.push_back(0);
  if (of_experts > 0 && dense > 0) {
    out.kinds.push_back(layer(FeedForward::dense));
    out.order.insert(out.order.end(), static_cast<std::size_t>(dense), 3);
  }
  out.order.insert(out.order.end(), static_cast<std::size_t>(of_experts > 0 ? of_experts : dense), 1);
  out.order.push_back(2);
  if (has_loss_block(s))
    for (Block (*const behind)(const Scenario&, const StackSizes&) : {cast, loss}) {
      out.order.push_back(static_cast<std::uint32_t>(out.kinds.size()));
      out.kinds.push_back(behind(s, z));
    }
  if (tied_embeddings(s.model)) out.tied = d(z.vocab) * d(word_sizes(s, z).width) / z.grid.depth;
  return out;
}

}  // namespace stepcast::schedules
