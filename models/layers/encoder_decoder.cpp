#include "models/layers/encoder_decoder.h"

#include <algorithm>
#include <utility>

#include "models/layers/as_double.h"
#include "models/layers/attention.h"
#include "models/layers/make_block.h"
#include "models/layers/multiply_pair.h"
#include "models/layers/partition.h"
#include "models/layers/shared_operators.h"
#include "models/layers/transformer_layer.h"

namespace stepcast::schedules {
namespace {

using Kind = OperatorKind;

struct Stacks {
  StackSizes encoder, decoder, cross;
  double passed_on;  ///< bytes of both stacks' activations, of all tensor ranks together
};

Stacks stacks_of(const Scenario& s) {
  Stacks z;
  z.encoder = stack_sizes(s, s.training.sequence, false);
  z.decoder = stack_sizes(s, s.training.decoder_sequence, true);
  z.cross = cross_sizes(z.decoder, s.training.sequence);
  z.passed_on = z.encoder.passed_on() + z.decoder.passed_on();
  return z;
}

/// Both stacks' tokens, from the same matrix.
Block embedding(const Scenario& s, const Stacks& z) {
  OperatorList list;
  for (const StackSizes* stack : {&z.encoder, &z.decoder}) {
    Writer w(s, *stack, list);
    look_up(w, stack == &z.encoder);
    embedding_dropout(w);
    w.begin(Kind::relative_positions);
    w.owns(d(kRelativePositions) * d(s.model.heads) / s.parallelism.tensor);
    if (attention(s) == Attention::unfused)
      w.forward.touch(d(s.model.heads) / s.parallelism.tensor * d(stack->sequence) * d(stack->keys) *
                      d(stack->element));
  }
  return part_block("embedding", std::move(list), z.passed_on);
}

Block encoder_norm(const Scenario& s, const Stacks& z) {
  OperatorList list;
  Writer w(s, z.encoder, list);
  kept_norm(w);
  return part_block("encoder norm", std::move(list), z.passed_on);
}

/// The encoder's output is kept once for all layers that look at it.
void cross_attention(Writer& w, const Stacks& z) {
  norm_of_half(w, Kind::cross_queries);
  first_multiply(w, Kind::cross_queries, z.cross.queries);
  Writer encoded = w.with(z.encoder);
  encoded.begin(Kind::encoder_output);
  encoded.backward.touch(z.encoder.residual * 3 * d(z.encoder.element));  // added to its gradient
  first_multiply(encoded, Kind::cross_keys_values, z.cross.keys_values);
  attention_core(w, false);
  second_multiply(w, Kind::cross_projection, z.cross.queries);
  w.saves(kept_core_result(w.s, z.cross));
  residual(w, 0);
}

Block decoder_layer(const Scenario& s, const Stacks& z) {
  OperatorList list;
  Writer own(s, z.decoder, list), cross = own.with(z.cross);
  self_attention(own);
  cross_attention(cross, z);
  second_half(own);
  return layer_block(s, "decoder layer", std::move(list), z.passed_on);
}

Block head(const Scenario& s, const Stacks& z) {
  OperatorList list;
  Writer w(s, z.decoder, list);
  kept_norm(w);
  logits(w);
  w.saves(z.decoder.residual * d(z.decoder.element));  // the norm's output
  cross_entropy(w);
  const StackSizes& last = z.decoder;
  return loss_block("head", std::move(list), (last.residual + d(last.tokens) * d(last.vocab)) * d(last.element));
}

}  // namespace

Blocks encoder_decoder_blocks(const Scenario& s) {
  const Stacks z = stacks_of(s);
  Blocks out;
  Block encoder = layer_block(s, "encoder layer", layer_operators(s, z.encoder), z.passed_on);
  Block decoder = decoder_layer(s, z), first = decoder;
  const double encoded = z.encoder.residual * d(z.encoder.element);
  first.saved += encoded;
  first.for_weights += encoded;
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
  for (const BlockRange& chunk : cut(out, share_out(s, out, chunks))) {
    const auto begin = out.order.begin() + chunk.first, end = begin + chunk.count;
    if (const auto of_decoder = std::find(begin, end, 3u); of_decoder != end) *of_decoder = 4;
  }
  return out;
}

}  // namespace stepcast::schedules
