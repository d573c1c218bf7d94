#include "schedules/memory/activations.h"

#include "schedules/model/attention.h"
#include "schedules/model/experts.h"
#include "schedules/model/latent_attention.h"
#include "schedules/model/low_precision.h"
#include "schedules/model/multiply_pair.h"
#include "schedules/model/parallel_block.h"

namespace stepcast::schedules {
namespace {

double d(std::int64_t n) { return static_cast<double>(n); }

/// Unfused attention core's saved tensors per rank that selective recomputation drops: softmax, dropout mask, dropout
/// output.
double core_bytes(const Scenario& s, const StackSizes& z) {
  if (attention(s) == Attention::flash) return 0;
  const double e = d(z.element);
  return has_dropout(s) ? z.scores * (2 * e + kMask) : z.scores * e;
}

/// Inputs of the norm and of the multiply behind it, and the mask of the dropout that closes the half.
double around(const Scenario& s, const StackSizes& z) {
  return z.residual * (d(z.element) + kept_input_bytes(s) / ranks_of_first_input(z) + (has_dropout(s) ? kMask : 0));
}

}  // namespace

double saved_input(const StackSizes& z) { return z.residual * d(z.element); }

double saved_by_attention(const Scenario& s, const StackSizes& z, Recompute recompute) {
  const double e = d(z.element), context = d(z.tokens) * d(z.attention_out);
  // Fused attention keeps its output too: the same tensor, if the multiply behind it takes it as it is.
  const bool as_it_is = !is_low_precision(s.training.precision) && parts_of_second_input(z) == 1;
  const bool fused = attention(s) == Attention::flash && !repeats_attention_core(s, recompute);
  const bool twice = !as_it_is && fused;
  const double projection_input = context * (kept_input_bytes(s) * parts_of_second_input(z) + (twice ? e : 0));
  constexpr double kStatistic = 4;  // flash attention: a float for each row of scores
  const double statistics = fused ? d(z.batch_heads) * d(z.sequence) / d(z.context) * kStatistic : 0;
  const RecomputedModules repeated = recomputed_modules(s, recompute);
  const double core = repeated.attention_core ? 0 : core_bytes(s, z);
  const double low_rank = s.model.latent.kv_rank > 0 ? saved_latent_bytes(s, z, repeated.latent_ups) : 0;
  const double projected = repeated.latent_ups ? 0 : z.projected * e;
  return around(s, z) + low_rank + projected + saved_by_query_key_norms(s, z) + projection_input + statistics + core;
}

double saved_by_feed_forward(const Scenario& s, const StackSizes& z, FeedForward kind, Recompute recompute) {
  const RecomputedModules repeated = recomputed_modules(s, recompute);
  if (kind == FeedForward::experts) return around(s, z) + saved_expert_bytes(s, z, repeated.experts_activation);
  if (repeated.feed_forward) return saved_input(z) + (has_dropout(s) ? z.residual * kMask : 0);
  const Activation activation = layer_style(s.model).activation;
  // GELU: in and out; ReLU: out, which is what the multiply keeps unless that was gathered; gated: gate, up and
  // product.
  const bool relu = activation == Activation::relu, same = relu && parts_of_second_input(z) == 1;
  const double own = is_gated(activation) ? 2 : same ? 0 : 1;
  return around(s, z) + z.inner * (own * d(z.element) + kept_input_bytes(s) * parts_of_second_input(z));
}

double saved_activation_bytes(const Scenario& s, const StackSizes& z, Recompute recompute, FeedForward kind) {
  if (recompute == Recompute::full) return saved_input(z);
  const double both = s.model.variations.parallel_block == ParallelBlock::none ? 0 : saved_by_both_halves(s, z);
  return saved_by_attention(s, z, recompute) + saved_by_feed_forward(s, z, kind, recompute) - both;
}

}  // namespace stepcast::schedules
