#include "schedules/model/encoder_decoder.h"

#include <algorithm>

#include "schedules/memory/activations.h"
#include "schedules/model/attention.h"
#include "schedules/model/multiply_pair.h"
#include "schedules/model/sublayers.h"
#include "schedules/model/transformer.h"

namespace stepcast::schedules {
namespace {

double d(std::int64_t n) { return static_cast<double>(n); }

struct Stacks {
  StackSizes encoder, decoder, cross;
  double passed_on;  ///< bytes of both stacks' activations, of all tensor ranks together
};

Stacks stacks_of(const Scenario& s) {
  Stacks z;
  z.encoder = stack_sizes(s, s.training.sequence, false);
  z.decoder = stack_sizes(s, s.training.decoder_sequence, true);
  z.cross = cross_sizes(z.decoder, s.training.sequence);
  z.passed_on = z.encoder.hidden_bytes + z.decoder.hidden_bytes;
  return z;
}

Block embedding(const Scenario& s, const Stacks& z) {
  Writer f(s, z.encoder), b(s, z.encoder);
  double saved = 0;
  for (const StackSizes* stack : {&z.encoder, &z.decoder}) {
    Writer forward(s, *stack), backward(s, *stack);
    look_up_forward(forward);
    if (has_dropout(s)) {
      forward.touch("embedding dropout", stack->residual * (2 * d(stack->element) + kMask));
      backward.touch("embedding dropout gradient", stack->residual * (2 * d(stack->element) + kMask));
      saved += stack->residual * kMask;
    }
    look_up_backward(backward);
    if (attention(s) == Attention::unfused)
      forward.touch("relative positions",
                    d(s.model.heads) / s.parallelism.tensor * d(stack->sequence) * d(stack->keys) * d(stack->element));
    f.append(forward.take());
    b.append(backward.take());
  }
  const double biases = 2 * d(kRelativePositions) * d(s.model.heads) / s.parallelism.tensor;
  return {.name = "embedding",
          .forward = f.take(),
          .backward = b.take(),
          .parameters = d(z.encoder.vocab) * d(z.encoder.hidden) + biases,
          .saved = saved,
          .output = z.passed_on};
}

Block encoder_norm(const Scenario& s, const Stacks& z) {
  Writer f(s, z.encoder), b(s, z.encoder);
  norm_forward(f);
  norm_backward(b);
  return {.name = "encoder norm",
          .forward = f.take(),
          .backward = b.take(),
          .parameters = d(z.encoder.hidden),
          .saved = saved_input(z.encoder),
          .output = z.passed_on};
}

void cross_attention_forward(Writer& w, const Scenario& s, const Stacks& z) {
  norm_forward(w);
  first_multiply(w, "cross-attention queries", z.cross.queries);
  Writer encoded(s, z.encoder);
  first_multiply(encoded, "cross-attention keys, values", z.cross.keys_values);
  w.append(encoded.take());
  attention_core(w, false);
  second_multiply(w, "cross-attention projection", z.cross.queries);
  residual_forward(w);
}

void cross_attention_backward(Writer& w, const Scenario& s, const Stacks& z) {
  residual_backward(w);
  second_multiply_backward(w, "cross-attention projection: gradient of input",
                           "cross-attention projection: gradient of weight", z.cross.queries);
  attention_core_backward(w, false);
  Writer encoded(s, z.encoder);
  first_multiply_backward(encoded, "cross-attention keys, values: gradient of input",
                          "cross-attention keys, values: gradient of weight", z.cross.keys_values);
  encoded.touch("add to the encoder output's gradient", z.encoder.residual * 3 * d(z.encoder.element));
  w.append(encoded.take());
  first_multiply_backward(w, "cross-attention queries: gradient of input",
                          "cross-attention queries: gradient of weight", z.cross.queries);
  norm_backward(w);
}

double cross_attention_parameters(const Scenario& s) {
  const Model& m = s.model;
  const double h = d(m.hidden), q = d(m.heads * head_width(m));
  const double kv = d(m.kv_heads * kv_copies(m, s.parallelism.tensor) * head_width(m));
  return (h * (q + 2 * kv) + q * h) / s.parallelism.tensor + h;
}

double saved_by_decoder_layer(const Scenario& s, const Stacks& z, Recompute recompute) {
  if (recompute == Recompute::full) return saved_input(z.decoder);
  return saved_activation_bytes(s, z.decoder, recompute) + saved_by_attention(s, z.cross, recompute);
}

Block decoder_layer(const Scenario& s, const Stacks& z) {
  const LayerParameters n = layer_parameters(s.model, FeedForward::dense, s.parallelism.tensor);
  Block layer{.name = "decoder layer",
              .layer = true,
              .parameters = n.whole + n.split / s.parallelism.tensor + cross_attention_parameters(s),
              .saved = saved_by_decoder_layer(s, z, s.recompute),
              .output = z.passed_on};
  layer.working = saved_by_decoder_layer(s, z, Recompute::none) - layer.saved + gradients_in_work(s, z.decoder);
  Writer f(s, z.decoder), b(s, z.decoder), cross_forward(s, z.cross), cross_backward(s, z.cross);
  self_attention(f);
  cross_attention_forward(cross_forward, s, z);
  f.append(cross_forward.take());
  second_half(f);
  layer.forward = f.take();
  second_half_backward(b);
  cross_attention_backward(cross_backward, s, z);
  b.append(cross_backward.take());
  self_attention_backward(b);
  layer.backward = b.take();
  if (s.recompute == Recompute::full) layer.recompute = repeated(s, layer.forward);
  if (repeats_attention_core(s, s.recompute)) {
    Writer own(s, z.decoder), cross(s, z.cross);
    attention_core(own, true);
    attention_core(cross, false);
    own.append(cross.take());
    layer.recompute = own.take();
  }
  return layer;
}

Block head(const Scenario& s, const Stacks& z) {
  Writer f(s, z.decoder), b(s, z.decoder);
  norm_forward(f);
  gather_input(f);
  logits_forward(f);
  logits_loss_backward(b);
  column_split_backward(b, "logits: gradient of input", "logits: gradient of weight", z.decoder.vocab);
  norm_backward(b);
  return {.name = "head",
          .forward = f.take(),
          .backward = b.take(),
          .parameters = d(z.decoder.hidden) + d(z.decoder.vocab) * d(z.decoder.hidden),
          .working = 2 * z.decoder.residual * d(z.decoder.element) + logits_working(s, z.decoder)};
}

}  // namespace

Blocks encoder_decoder_blocks(const Scenario& s) {
  const Stacks z = stacks_of(s);
  Blocks out;
  Block encoder = layer_block(s, z.encoder);
  encoder.name = "encoder layer";
  encoder.output = z.passed_on;
  Block decoder = decoder_layer(s, z), first = decoder;
  first.saved += saved_input(z.encoder);
  out.kinds = {embedding(s, z),    std::move(encoder), encoder_norm(s, z),
               std::move(decoder), std::move(first),   head(s, z)};
  const std::int64_t encoders = encoder_layers(s.model);
  out.order.push_back(0);
  out.order.insert(out.order.end(), static_cast<std::size_t>(encoders), 1);
  out.order.push_back(2);
  out.order.insert(out.order.end(), static_cast<std::size_t>(s.model.decoder_layers), 3);
  out.order.push_back(5);
  if (tied_embeddings(s.model)) out.tied = d(z.encoder.vocab) * d(z.encoder.hidden);
  const std::uint32_t chunks = s.parallelism.pipeline * s.pipeline.virtual_stages;
  for (const BlockRange& chunk : cut(out, layers_of_chunks(s, out, chunks))) {
    const auto begin = out.order.begin() + chunk.first, end = begin + chunk.count;
    if (const auto of_decoder = std::find(begin, end, 3u); of_decoder != end) *of_decoder = 4;
  }
  return out;
}

}  // namespace stepcast::schedules
