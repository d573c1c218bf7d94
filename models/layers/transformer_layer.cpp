#include "models/layers/transformer_layer.h"

#include "models/layers/as_double.h"
#include "models/layers/attention.h"
#include "models/layers/delta_rule.h"
#include "models/layers/experts.h"
#include "models/layers/feed_forward.h"
#include "models/layers/parallel_block.h"
#include "models/layers/shared_operators.h"
#include "models/layers/state_space.h"

namespace stepcast::schedules {
namespace {

void first_half(Writer& w, Mixer mixer) {
  switch (mixer) {
    case Mixer::none:
      return;
    case Mixer::attention:
      return self_attention(w);
    case Mixer::mamba:
      return state_space(w);
    case Mixer::delta_net:
      return delta_rule(w);
  }
}

}  // namespace

void second_half(Writer& w, FeedForward kind) {
  const double biases =
      layer_style(w.s.model).feed_forward_biases ? d(feed_forward_columns(w.s.model, w.z.ffn)) + d(w.z.width) : 0;
  if (kind == FeedForward::experts) {
    Writer norms = w.inside({.norms = true}), experts = w.inside({.experts = true});
    norm_of_half(norms, w.s.model.experts.shared_ffn > 0 ? OperatorKind::feed_forward_in : OperatorKind::router);
    expert_block(experts);
    return residual(w, 0);
  }
  Writer repeated = w.inside({.feed_forward = true});
  norm_of_half(repeated, OperatorKind::feed_forward_in);
  feed_forward(repeated, w.z.ffn, kept_of_second_input(w.s, w.z));
  repeated.holds_gradients(feed_forward_gradients(w.s, w.z));
  residual(w, biases);
}

OperatorList layer_operators(const Scenario& s, const StackSizes& z, LayerHalves halves) {
  OperatorList list;
  Writer w(s, z, list);
  if (s.model.variations.parallel_block != ParallelBlock::none) {
    parallel_block(w);
  } else {
    first_half(w, halves.mixer);
    if (halves.feed_forward != FeedForward::none) second_half(w, halves.feed_forward);
  }
  return list;
}

}  // namespace stepcast::schedules
