#include "schedules/memory/activations.h"

namespace stepcast::schedules {
namespace {

double d(std::int64_t n) { return static_cast<double>(n); }

/// Attention core's saved tensors per rank that selective recomputation drops: softmax, dropout mask, dropout output.
double core_bytes(const Scenario& s) {
  if (attention(s) == Attention::flash) return 0;
  const double e = d(element_bytes(s.training.precision));
  const double scores = d(s.training.micro_batch) * d(s.model.heads) / s.parallelism.tensor * d(s.training.sequence) *
                        d(s.training.sequence);
  return s.model.family == Family::gpt && s.software.dropout ? scores * (2 * e + 1) : scores * e;
}

}  // namespace

double saved_activation_bytes(const Scenario& s, Recompute recompute) {
  const double e = d(element_bytes(s.training.precision)), t = s.parallelism.tensor;
  const double whole = d(s.training.micro_batch) * d(s.training.sequence) * d(s.model.hidden);
  const double residual = s.parallelism.sequence ? whole / t : whole;
  if (recompute == Recompute::full) return residual * e;

  const Model& m = s.model;
  const double tokens = d(s.training.micro_batch) * d(s.training.sequence);
  const double kv = whole * d(m.kv_heads) / d(m.heads);
  const double inner = tokens * d(m.ffn);
  const bool gpt = m.family == Family::gpt;

  const double norms = 2 * residual * e;          // inputs of both norms
  const double linear_inputs = 2 * residual * e;  // of the qkv and the first feed-forward multiply
  const double dropout_masks =
      gpt && s.software.dropout ? 2 * residual : 0;  // after attention and after the feed-forward
  const double queries_keys_values = (whole + 2 * kv) / t * e;
  const double projection_input = whole / t * e;
  const double feed_forward = (gpt ? 2 : 3) * inner / t * e;  // gelu: in and out; SwiGLU: gate, up and product
  const double statistics = attention(s) == Attention::flash ? tokens * d(m.heads) / t * 4 : 0;
  const double core = recompute == Recompute::selective ? 0 : core_bytes(s);
  return norms + linear_inputs + dropout_masks + queries_keys_values + projection_input + feed_forward + statistics +
         core;
}

}  // namespace stepcast::schedules
