#include "models/layers/encoder.h"

#include <utility>

#include "models/layers/as_double.h"
#include "models/layers/make_block.h"
#include "models/layers/shared_operators.h"
#include "models/layers/transformer_layer.h"

namespace stepcast::schedules {
namespace {

using Kind = OperatorKind;

constexpr std::int64_t kFollows = 2;  // classes of bert's next-sentence head

/// Norm of rows that no residual goes past.
void plain_norm(Writer& w, double elements) {
  w.begin(Kind::layer_norm);
  w.owns(2 * d(w.z.hidden));
  w.forward.touch(elements * 2 * d(w.z.residual_element));
  w.backward.touch(elements * 5 * d(w.z.residual_element), 2);
}

Block word_embedding(const Scenario& s, const StackSizes& z) {
  const double h = d(z.hidden), stream = z.residual_bytes();
  const std::int64_t positions = s.model.positions > 0 ? s.model.positions : s.training.sequence;
  OperatorList list;
  Writer w(s, z, list);
  look_up(w);
  w.begin(Kind::positions);
  w.owns(d(positions) * h);
  w.forward.touch(3 * stream);
  w.backward.touch(2 * stream, 2);  // with the segments'
  if (s.model.segments > 0) {
    w.begin(Kind::segments);
    w.owns(d(s.model.segments) * h);
    w.forward.touch(3 * stream);
  }
  plain_norm(w, z.residual);
  w.saves(stream);
  embedding_dropout(w);
  return part_block("embedding", std::move(list), z.passed_on());
}

/// A multiply with bias on one row of each sample: forward, and its two gradients.
void on_first_token(Writer& w, Kind kind, std::int64_t in, std::int64_t out) {
  w.begin(kind);
  w.owns(d(in) * d(out) + d(out));
  w.forward.gemm(w.z.samples, in, out);
  w.backward.gemm(w.z.samples, out, in);
  w.backward.weight_gradient(out, in, w.z.samples);
}

/// The transform of the masked words' rows.
void transform(Writer& w, std::int64_t rows) {
  const std::int64_t h = w.z.hidden;
  w.begin(Kind::masked_words);
  w.owns(d(h) * d(h) + d(h));
  w.forward.gemm(rows, h, h);
  w.backward.gemm(rows, h, h);
  w.backward.weight_gradient(h, h, rows);
  const bool fused = w.s.software.fused_bias_gelu;
  const double bytes = d(rows) * d(h) * d(w.z.element);
  w.begin(Kind::gelu);
  w.forward.touch(bytes * (fused ? 2 : 8), fused ? 1 : 4);
  w.backward.touch(bytes * (fused ? 3 : 9), fused ? 1 : 4);
  plain_norm(w, d(rows) * d(h));
  w.saves(4 * bytes);  // what enters and leaves the multiply, GELU and norm
}

Block bert_head(const Scenario& s, const StackSizes& z) {
  const std::int64_t t = s.parallelism.tensor;
  const std::int64_t predicted = s.training.predictions > 0 ? s.training.predictions * z.samples : z.tokens;
  OperatorList list;
  Writer w(s, z, list);
  if (s.model.next_sentence) {
    on_first_token(w, Kind::pooler, z.hidden, z.hidden);
    w.begin(Kind::tanh);
    w.forward.touch(d(z.samples) * d(z.hidden) * 2 * d(z.element));
    on_first_token(w, Kind::next_sentence, z.hidden, kFollows);
  }
  transform(w, z.split_sequence ? (predicted + t - 1) / t : predicted);
  logits(w, predicted);
  w.owns(d(z.vocab));  // a bias
  cross_entropy(w, predicted);
  // What the transform and the logits multiply, and the gradients of what they make.
  const double of_weights = d(predicted) * (3 * d(z.hidden) + d(z.vocab)) * d(z.element);
  return loss_block("head", std::move(list), of_weights);
}

Block patch_embedding(const Scenario& s, const StackSizes& z) {
  const double e = d(z.element), h = d(z.hidden);
  const Model& m = s.model;
  const std::int64_t patch = m.image.channels * m.patch * m.patch, rows = z.samples * patches(m);
  OperatorList list;
  Writer w(s, z, list);
  w.begin(Kind::patches);
  w.owns(h * d(patch) + h);
  w.forward.gemm(rows, patch, z.hidden);
  w.backward.weight_gradient(z.hidden, patch, rows);
  w.saves(d(rows) * d(patch) * e);
  w.begin(Kind::class_token);  // and positions
  w.owns(h + d(patches(m) + 1) * h);
  w.forward.touch(d(z.tokens) * h * d(z.element + 2 * z.residual_element), 2);
  w.backward.touch(d(z.tokens) * h * d(z.residual_element), 2);
  return part_block("patches", std::move(list), z.passed_on());
}

Block class_head(const Scenario& s, const StackSizes& z) {
  const double logits = d(z.samples) * d(s.model.classes);
  constexpr double kFloat = 4;
  OperatorList list;
  Writer w(s, z, list);
  norm(w);
  w.saves(z.residual_bytes() + z.residual * d(z.element));
  on_first_token(w, Kind::classes, z.hidden, s.model.classes);
  w.begin(Kind::cross_entropy);
  w.forward.touch(logits * 10 * kFloat, 6);
  w.backward.touch(logits * 4 * kFloat, 2);
  w.saves(2 * logits * kFloat);
  return loss_block("head", std::move(list), (d(z.samples) * d(z.hidden) + logits) * d(z.element));
}

}  // namespace

std::int64_t tokens_of_sample(const Scenario& s) {
  return s.model.family == Family::vit ? patches(s.model) + 1 : s.training.sequence;
}

Blocks encoder_blocks(const Scenario& s) {
  const StackSizes z = stack_sizes(s, tokens_of_sample(s), false);
  const bool bert = s.model.family == Family::bert;
  Blocks out;
  out.kinds.push_back(bert ? word_embedding(s, z) : patch_embedding(s, z));
  out.kinds.push_back(layer_block(s, "layer", layer_operators(s, z), z.passed_on()));
  out.kinds.push_back(bert ? bert_head(s, z) : class_head(s, z));
  out.order.push_back(0);
  out.order.insert(out.order.end(), static_cast<std::size_t>(s.model.layers), 1);
  out.order.push_back(2);
  if (tied_embeddings(s.model)) out.tied = d(z.vocab) * d(z.hidden);
  return out;
}

}  // namespace stepcast::schedules
