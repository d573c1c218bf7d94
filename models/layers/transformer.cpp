#include "models/layers/transformer.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "models/layers/as_double.h"
#include "models/layers/encoder.h"
#include "models/layers/encoder_decoder.h"
#include "models/layers/make_block.h"
#include "models/layers/partition.h"
#include "models/layers/shared_operators.h"
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
  w.forward.touch(w.z.residual_bytes() * 3);
}

Block embedding(const Scenario& s, const StackSizes& z) {
  const StackSizes words = word_sizes(s, z);
  OperatorList list;
  Writer w(s, z, list), of_words = w.with(words);
  look_up(of_words);
  projection(w, Kind::embedding_projection, words.width, z.width);
  if (s.model.variations.embedding_width > 0) w.saves(d(z.tokens) * d(words.width) * d(z.element));
  learned_positions(w);
  if (s.model.variations.embedding_norm) plain_norm(w);
  embedding_dropout(w);
  Block block = part_block("embedding", std::move(list), z.passed_on());
  block.working = gathered_words(z);
  return block;
}

/// What enters a layer of multi-token prediction: the output of the layer before it and the next token's embedding,
/// each behind a norm of its own, side by side and projected to one width (DeepSeek-V3, arXiv 2412.19437, eq. 21;
/// Megatron Core's MultiTokenPredictionLayer, whose tensor ranks share the projection's columns and gather what it
/// makes; of that each keeps its tokens where they share the sequence, so backward gathers the gradients first:
/// scatter_to_sequence_parallel_region).
/// `copies`: this block's stage has a copy of the embedding's matrix, unless the first stage's is on it.
Block mtp_input(const Scenario& s, const StackSizes& z, bool copies) {
  using collectives::Operation;
  OperatorList list;
  Writer w(s, z, list);
  const double two = 2 * z.residual * d(z.element), two_of_all = 2 * z.hidden_bytes;
  look_up(w, false);
  if (copies) w.owns(d(z.vocab) * d(z.width));
  plain_norm(w);  // of the embedding
  plain_norm(w);  // of the layer's output
  w.begin(Kind::mtp_join);
  w.forward.touch(2 * two);
  w.backward.touch(2 * two);

  const std::int64_t columns = z.hidden / z.tensor;
  w.begin(Kind::mtp_projection);
  w.owns(2 * d(z.hidden) * d(columns));
  w.saves(two);
  if (z.split_sequence) w.forward.collective(Operation::all_gather, two_of_all);
  w.forward.gemm(z.tokens, 2 * z.hidden, columns);
  w.forward.collective(Operation::all_gather, z.hidden_bytes);
  w.keeps_gathered(two);
  if (z.split_sequence) w.backward.collective(Operation::all_gather);
  if (z.split_sequence && s.software.gather_inputs_again)
    w.backward.collective(Operation::all_gather, two_of_all, w.backward.overlaps());
  w.backward.gemm(z.tokens, columns, 2 * z.hidden);
  w.backward.weight_gradient_and(
      [&](bool hide) {
        w.backward.collective(z.split_sequence ? Operation::reduce_scatter : Operation::all_reduce, two_of_all, hide);
      },
      columns, 2 * z.hidden);
  return part_block("multi-token input", std::move(list));
}

/// Its logits and loss, by the head's matrix.
Block mtp_head(const Scenario& s, const StackSizes& z) {
  OperatorList list;
  Writer w(s, z, list);
  kept_norm(w);
  logits(w, 0, false);
  w.saves(z.residual * d(z.element));  // the norm's output
  cross_entropy(w);
  return part_block("multi-token head", std::move(list));
}

/// Whether the stage of multi-token prediction holds a copy of the embedding's matrix.
bool copies_embedding(const Model& model) { return model.mtp_layers > 0 && !tied_embeddings(model); }

/// Of all tensor ranks of a row.
double logit_bytes(const StackSizes& z, std::int64_t element) {
  return d(z.tokens) * d(z.vocab) * d(element) * z.grid.columns;
}

/// The last norm and the logits, with the loss unless that is a block of its own.
Block head(const Scenario& s, const StackSizes& z) {
  const StackSizes words = word_sizes(s, z);
  OperatorList list;
  Writer w(s, z, list), of_words = w.with(words);
  if (s.model.variations.final_norm) kept_norm(w);
  projection(w, Kind::head_projection, z.width, words.width);
  const bool in_parts = s.software.fused_linear_cross_entropy;
  in_parts ? fused_linear_cross_entropy(of_words) : logits(of_words);
  if (s.model.variations.head_bias) w.owns(d(z.vocab));
  // What enters the logits, and where no norm made it what the last layer wrote.
  if (!trains_adapters(s.training) && !in_parts)
    w.saves((s.model.variations.final_norm ? 1 : 2) * z.residual * d(z.element));
  if (has_loss_block(s)) {
    Block block = part_block("head", std::move(list), logit_bytes(z, z.element));
    block.output_split = true;
    block.working = gathered_words(z);
    return block;
  }
  if (!in_parts) cross_entropy(of_words);
  Block block = loss_block("head", std::move(list), (z.residual + d(z.tokens) * d(z.vocab)) * d(z.element));
  block.working = gathered_words(z);
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
  return loss_block("loss", std::move(list), 0);
}

/// What layers of a decoder differ in.
struct DecoderLayer {
  LayerHalves halves{};
  std::int64_t window = 0;
  bool chunks = false;
  friend bool operator==(const DecoderLayer&, const DecoderLayer&) = default;
};

DecoderLayer decoder_layer(const Scenario& s, std::int64_t layer) {
  DecoderLayer out{halves(s.model, layer)};
  if (out.halves.mixer != Mixer::attention) return out;
  out.window = attention_window(s.model, layer, s.training.sequence);
  out.chunks = s.model.variations.window_in_chunks;
  // Documents are chunks. A shorter window goes over their ends, which is little.
  const std::int64_t document = s.training.document_length;
  if (document > 0 && document <= out.window) {
    out.window = document;
    out.chunks = true;
  }
  return out;
}

Block layer_of(const Scenario& s, StackSizes z, const DecoderLayer& layer) {
  z.window = layer.window;
  z.chunks = layer.chunks;
  return layer_block(s, "layer", layer_operators(s, z, layer.halves), z.passed_on());
}

}  // namespace

Blocks transformer_blocks(const Scenario& s) {
  if (s.model.family == Family::t5) return encoder_decoder_blocks(s);
  if (s.model.family == Family::bert || s.model.family == Family::vit) return encoder_blocks(s);
  const StackSizes z = stack_sizes(s, s.training.sequence, true);
  const DecoderLayer last = decoder_layer(s, s.model.layers - 1);
  Blocks out;
  out.kinds.push_back(embedding(s, z));
  out.kinds.push_back(layer_of(s, z, last));
  out.kinds.push_back(head(s, z));
  out.order.push_back(0);
  std::vector<std::pair<DecoderLayer, std::uint32_t>> known = {{last, 1}};
  for (std::int64_t i = 0; i < s.model.layers; ++i) {
    const DecoderLayer layer = decoder_layer(s, i);
    auto kind = std::ranges::find(known, layer, &std::pair<DecoderLayer, std::uint32_t>::first);
    if (kind == known.end()) {
      kind = known.emplace(known.end(), layer, static_cast<std::uint32_t>(out.kinds.size()));
      out.kinds.push_back(layer_of(s, z, layer));
    }
    out.order.push_back(kind->second);
  }
  if (s.model.mtp_layers > 0) {
    DecoderLayer of_extra = last;
    if (!s.model.variations.pattern.empty()) of_extra = {mtp_halves(s.model), s.training.sequence};
    Block extra = layer_of(s, z, of_extra);
    extra.name = "multi-token layer";
    extra.layer = false;
    extra.extra_layer = true;
    extra.output *= 1 + d(s.model.mtp_layers);  // what it makes goes to its own head beside what the others have made
    const auto first = static_cast<std::uint32_t>(out.kinds.size());
    const bool copies = copies_embedding(s.model);
    for (Block& block : std::array{mtp_input(s, z, copies), std::move(extra), mtp_head(s, z)})
      out.kinds.push_back(std::move(block));
    if (copies) out.tied_place = static_cast<std::uint32_t>(out.order.size());
    std::uint32_t later = first;
    if (copies && s.model.mtp_layers > 1) {  // one copy serves all
      later = static_cast<std::uint32_t>(out.kinds.size());
      out.kinds.push_back(mtp_input(s, z, false));
    }
    for (std::int64_t i = 0; i < s.model.mtp_layers; ++i)
      out.order.insert(out.order.end(), {i == 0 ? first : later, first + 1});
    out.order.insert(out.order.end(), static_cast<std::size_t>(s.model.mtp_layers), first + 2);
  }
  out.order.push_back(2);
  if (has_loss_block(s))
    for (Block (*const behind)(const Scenario&, const StackSizes&) : {cast, loss}) {
      out.order.push_back(static_cast<std::uint32_t>(out.kinds.size()));
      out.kinds.push_back(behind(s, z));
    }
  if (tied_embeddings(s.model) || copies_embedding(s.model))
    out.tied = d(z.vocab) * d(word_sizes(s, z).width) / z.grid.depth;
  return out;
}

}  // namespace stepcast::schedules
