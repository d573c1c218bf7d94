#include "schedules/model/selective.h"

#include "schedules/model/attention.h"
#include "schedules/model/experts.h"
#include "schedules/model/feed_forward.h"
#include "schedules/model/latent_attention.h"
#include "schedules/model/sublayers.h"

namespace stepcast::schedules {

Operators repeated_modules(const Scenario& s, const StackSizes& z, FeedForward kind) {
  const RecomputedModules repeated = recomputed_modules(s, s.recompute);
  const bool core = repeats_attention_core(s, s.recompute);
  Writer w(s, z);
  if (repeated.latent_ups) {
    latent_ups(w);
    if (!core) rotary_positions(w);  // else the core starts with them
  }
  if (core) attention_core(w, biased_scores(s.model));
  if (repeated.feed_forward && kind == FeedForward::dense) {
    norm_forward(w);
    feed_forward(w, z.ffn);
  }
  if (repeated.experts_activation && kind == FeedForward::experts) experts_activation(w);
  return w.take();
}

}  // namespace stepcast::schedules
