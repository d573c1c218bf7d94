#include "schedules/model/latent_attention.h"

#include "schedules/model/sublayers.h"

namespace stepcast::schedules {
namespace {

using collectives::Operation;

double d(std::int64_t n) { return static_cast<double>(n); }

/// Columns on this rank.
struct Columns {
  std::int64_t queries;      ///< of all its heads
  std::int64_t keys_values;  ///< without the part with positions, which is not projected up
  std::int64_t narrow;       ///< of keys and values, the part with positions included
};

Columns columns(const Writer& w) {
  const LatentAttention& latent = w.s.model.latent;
  const StackSizes& z = w.z;
  return {z.heads * z.key_width, z.heads * (latent.head + latent.value), latent.kv_rank + latent.rotary};
}

double bytes(const StackSizes& z, std::int64_t width) { return d(z.tokens) * d(width) * d(z.element); }

/// Of one low-rank result on the tokens of this rank.
double own_bytes(const StackSizes& z, std::int64_t width) { return d(z.residual_tokens()) * d(width) * d(z.element); }

void up_backward(Writer& w, std::string_view input, std::string_view weight, std::int64_t rank, std::int64_t wide) {
  const StackSizes& z = w.z;
  w.gemm(input, z.tokens, wide, rank);
  w.weight_gradient(weight, wide, rank, z.tokens);
  w.collective("sum of a low-rank gradient", z.split_sequence ? Operation::reduce_scatter : Operation::all_reduce,
               bytes(z, rank));
}

/// Without a low rank, from the layer's input.
void queries_up(Writer& w) {
  const std::int64_t rank = w.s.model.latent.query_rank;
  if (rank == 0) {
    gather_input(w);
    w.gemm("queries", w.z.tokens, w.z.hidden, columns(w).queries);
    return;
  }
  w.touch("rms norm of low-rank queries", own_bytes(w.z, rank) * 2);
  if (w.z.split_sequence) w.collective("all-gather of low-rank queries", Operation::all_gather, bytes(w.z, rank));
  w.gemm("queries up", w.z.tokens, rank, columns(w).queries);
}

void keys_and_values_up(Writer& w) {
  const std::int64_t rank = w.s.model.latent.kv_rank;
  const Columns c = columns(w);
  w.touch("rms norm of low-rank keys and values", own_bytes(w.z, rank) * 2);
  if (w.z.split_sequence)
    w.collective("all-gather of low-rank keys and values", Operation::all_gather, bytes(w.z, c.narrow));
  w.gemm("keys and values up", w.z.tokens, rank, c.keys_values);
  // The part with positions is copied to every head's keys and joined to the rest; queries are joined likewise.
  w.touch("join parts of queries, keys, values", 2 * bytes(w.z, w.z.query_key_value()), 3);
}

}  // namespace

void latent_projections(Writer& w) {
  const LatentAttention& latent = w.s.model.latent;
  const StackSizes& z = w.z;
  if (latent.query_rank > 0) w.gemm("queries down", z.residual_tokens(), z.hidden, latent.query_rank);
  queries_up(w);
  w.gemm("keys and values down", z.residual_tokens(), z.hidden, columns(w).narrow);
  keys_and_values_up(w);
}

void latent_ups(Writer& w) {
  queries_up(w);
  keys_and_values_up(w);
}

void latent_projections_backward(Writer& w) {
  const LatentAttention& latent = w.s.model.latent;
  const StackSizes& z = w.z;
  const Columns c = columns(w);
  const std::int64_t own = z.residual_tokens();
  up_backward(w, "keys and values up: gradient of input", "keys and values up: gradient of weight", latent.kv_rank,
              c.keys_values);
  w.touch("rms norm gradient of low-rank keys and values", own_bytes(z, latent.kv_rank) * 5, 2);
  w.gemm("keys and values down: gradient of input", own, c.narrow, z.hidden);
  w.weight_gradient("keys and values down: gradient of weight", c.narrow, z.hidden, own);
  if (latent.query_rank > 0) {
    up_backward(w, "queries up: gradient of input", "queries up: gradient of weight", latent.query_rank, c.queries);
    w.touch("rms norm gradient of low-rank queries", own_bytes(z, latent.query_rank) * 5, 2);
    w.gemm("queries down: gradient of input", own, latent.query_rank, z.hidden);
    w.weight_gradient("queries down: gradient of weight", latent.query_rank, z.hidden, own);
  } else {
    column_split_backward(w, "queries: gradient of input", "queries: gradient of weight", c.queries);
  }
  w.touch("sum of the input's gradients", z.residual * 3 * d(z.element));
}

double saved_latent_bytes(const Scenario& s, const StackSizes& z, bool ups_repeated) {
  const LatentAttention& latent = s.model.latent;
  const double each = ups_repeated ? 1 : 2;  // what enters the norm, and what leaves it
  return each * (own_bytes(z, latent.query_rank) + own_bytes(z, latent.kv_rank)) + own_bytes(z, latent.rotary);
}

}  // namespace stepcast::schedules
