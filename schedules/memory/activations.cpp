#include "schedules/memory/activations.h"

#include "schedules/model/experts.h"
#include "schedules/model/latent_attention.h"
#include "schedules/model/low_precision.h"

namespace stepcast::schedules {
namespace {

double d(std::int64_t n) { return static_cast<double>(n); }

/// Attention core's saved tensors per rank that selective recomputation drops: softmax, dropout mask, dropout output.
double core_bytes(const Scenario& s, const StackSizes& z) {
  if (attention(s) == Attention::flash) return 0;
  const double e = d(z.element);
  return has_dropout(s) ? z.scores * (2 * e + kMask) : z.scores * e;
}

/// Inputs of the norm and of the multiply behind it, and the mask of the dropout that closes the half.
double around(const Scenario& s, const StackSizes& z) {
  return z.residual * (d(z.element) + kept_input_bytes(s) + (has_dropout(s) ? kMask : 0));
}

}  // namespace

double saved_input(const StackSizes& z) { return z.residual * d(z.element); }

double saved_by_attention(const Scenario& s, const StackSizes& z, Recompute recompute) {
  const double e = d(z.element), context = d(z.tokens) * d(z.attention_out);
  // Fused attention keeps its output too: the same tensor, if the multiply behind it takes it as it is.
  const bool twice = is_low_precision(s.training.precision) && attention(s) == Attention::flash;
  const double projection_input = context * (kept_input_bytes(s) + (twice ? e : 0));
  constexpr double kStatistic = 4;  // flash attention: a float for each row of scores
  const double statistics =
      attention(s) == Attention::flash ? d(z.batch_heads) * d(z.sequence) / d(z.context) * kStatistic : 0;
  const double core = recompute == Recompute::selective ? 0 : core_bytes(s, z);
  const double low_rank = s.model.latent.kv_rank > 0 ? saved_latent_bytes(s, z) : 0;
  return around(s, z) + low_rank + z.projected * e + projection_input + statistics + core;
}

double saved_by_feed_forward(const Scenario& s, const StackSizes& z, FeedForward kind) {
  if (kind == FeedForward::experts) return around(s, z) + saved_expert_bytes(s, z);
  const Activation activation = layer_style(s.model).activation;
  // GELU: in and out; ReLU: out; gated: gate, up and product.
  const double tensors = is_gated(activation) ? 3 : activation == Activation::relu ? 1 : 2;
  return around(s, z) + z.inner * ((tensors - 1) * d(z.element) + kept_input_bytes(s));
}

double saved_activation_bytes(const Scenario& s, const StackSizes& z, Recompute recompute, FeedForward kind) {
  if (recompute == Recompute::full) return saved_input(z);
  return saved_by_attention(s, z, recompute) + saved_by_feed_forward(s, z, kind);
}

}  // namespace stepcast::schedules
