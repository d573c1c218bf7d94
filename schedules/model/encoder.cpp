#include "schedules/model/encoder.h"

#include "schedules/model/sublayers.h"
#include "schedules/model/transformer.h"

namespace stepcast::schedules {
namespace {

double d(std::int64_t n) { return static_cast<double>(n); }

constexpr std::int64_t kSegments =
    2;  // bert: first sentence, second sentence; so many classes has the next-sentence head

Block word_embedding(const Scenario& s, const StackSizes& z) {
  const double e = d(z.element), h = d(z.hidden);
  Writer f(s, z), b(s, z);
  look_up_forward(f);
  f.touch("positions", z.residual * 3 * e);
  f.touch("segments", z.residual * 3 * e);
  norm_forward(f);
  if (has_dropout(s)) {
    f.touch("embedding dropout", z.residual * (2 * e + kMask));
    b.touch("embedding dropout gradient", z.residual * (2 * e + kMask));
  }
  b.touch("layer norm gradient", z.residual * 5 * e, 2);
  b.touch("gradients of positions and segments", z.residual * 2 * e, 2);
  look_up_backward(b);
  const double words = d(s.model.vocab) * h;
  return {.name = "embedding",
          .forward = f.take(),
          .backward = b.take(),
          .parameters =
              d(z.vocab) * h + embedding_parameters(s.model, s.training.sequence) - words + d(kSegments) * h + 2 * h,
          .saved = z.residual * (e + (has_dropout(s) ? kMask : 0)),  // the norm's input
          .output = z.hidden_bytes};
}

/// A multiply on one row of each sample: forward, and its two gradients.
void on_first_token(Writer& f, Writer& b, std::string_view forward, std::string_view input, std::string_view weight,
                    std::int64_t in, std::int64_t out) {
  f.gemm(forward, f.z.samples, in, out);
  b.gemm(input, b.z.samples, out, in);
  b.weight_gradient(weight, out, in, b.z.samples);
}

Block bert_head(const Scenario& s, const StackSizes& z) {
  const double e = d(z.element), h = d(z.hidden);
  const std::int64_t t = s.parallelism.tensor;
  const std::int64_t predicted = s.training.predictions > 0 ? s.training.predictions * z.samples : z.tokens;
  const std::int64_t here = z.split_sequence ? (predicted + t - 1) / t : predicted;  // rows of the transform
  const double rows = d(here) * h;
  Writer f(s, z), b(s, z);
  on_first_token(f, b, "pooler", "pooler: gradient of input", "pooler: gradient of weight", z.hidden, z.hidden);
  f.touch("tanh", d(z.samples) * h * 2 * e);
  on_first_token(f, b, "next sentence", "next sentence: gradient of input", "next sentence: gradient of weight",
                 z.hidden, kSegments);
  f.gemm("masked words: transform", here, z.hidden, z.hidden);
  f.touch("bias, GELU", rows * (s.software.fused_bias_gelu ? 2 : 8) * e, s.software.fused_bias_gelu ? 1 : 4);
  f.touch("layer norm", rows * 2 * e);
  gather_input(f);
  logits_forward(f, predicted);

  logits_loss_backward(b, predicted);
  b.gemm("logits: gradient of input", predicted, z.vocab, z.hidden);
  b.weight_gradient_and([&](bool hide) { sum_input_gradient(b, hide); }, "logits: gradient of weight", z.vocab,
                        z.hidden, predicted);
  b.touch("layer norm gradient", rows * 5 * e, 2);
  b.touch("GELU gradient", rows * (s.software.fused_bias_gelu ? 3 : 9) * e, s.software.fused_bias_gelu ? 1 : 4);
  b.gemm("masked words: transform: gradient of input", here, z.hidden, z.hidden);
  b.weight_gradient("masked words: transform: gradient of weight", z.hidden, z.hidden, here);

  const double pooler = h * h + h, next_sentence = d(kSegments) * (h + 1);
  const double masked_words = h * h + h + 2 * h + d(z.vocab);
  return {.name = "head",
          .forward = f.take(),
          .backward = b.take(),
          .parameters = pooler + next_sentence + masked_words + d(z.vocab) * h,
          .working = 4 * rows * e + logits_working(s, z, predicted)};
}

Block patch_embedding(const Scenario& s, const StackSizes& z) {
  const double e = d(z.element), h = d(z.hidden);
  const Model& m = s.model;
  const std::int64_t patch = m.image.channels * m.patch * m.patch, rows = z.samples * patches(m);
  Writer f(s, z), b(s, z);
  f.gemm("patches", rows, patch, z.hidden);
  f.touch("class token, positions", d(z.tokens) * h * 3 * e, 2);
  b.touch("gradients of positions and class token", d(z.tokens) * h * e, 2);
  b.weight_gradient("patches: gradient of weight", z.hidden, patch, rows);
  return {.name = "patches",
          .forward = f.take(),
          .backward = b.take(),
          .parameters = h * d(patch) + h + h + d(patches(m) + 1) * h,  // with bias, class token, positions
          .saved = d(rows) * d(patch) * e,
          .output = z.hidden_bytes};
}

Block class_head(const Scenario& s, const StackSizes& z) {
  const double h = d(z.hidden), classes = d(s.model.classes);
  constexpr double kFloat = 4;
  Writer f(s, z), b(s, z);
  norm_forward(f);
  on_first_token(f, b, "classes", "classes: gradient of input", "classes: gradient of weight", z.hidden,
                 s.model.classes);
  f.touch("cross entropy", d(z.samples) * classes * 10 * kFloat, 6);
  b.touch("cross entropy gradient", d(z.samples) * classes * 4 * kFloat, 2);
  norm_backward(b);
  return {.name = "head",
          .forward = f.take(),
          .backward = b.take(),
          .parameters = 2 * h + h * classes + classes,
          .working = 2 * z.residual * d(z.element) + 2 * d(z.samples) * classes * kFloat};
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
  out.kinds.push_back(layer_block(s, z));
  out.kinds.push_back(bert ? bert_head(s, z) : class_head(s, z));
  out.order.push_back(0);
  out.order.insert(out.order.end(), static_cast<std::size_t>(s.model.layers), 1);
  out.order.push_back(2);
  if (tied_embeddings(s.model)) out.tied = d(z.vocab) * d(z.hidden);
  return out;
}

}  // namespace stepcast::schedules
