#include "models/layers/latent_attention.h"

#include "models/layers/as_double.h"
#include "models/layers/kept_inputs.h"
#include "models/layers/low_precision.h"
#include "models/layers/shared_operators.h"

namespace stepcast::schedules {
namespace {

using collectives::Operation;
using Kind = OperatorKind;

/// Columns on this rank.
struct ProjectionWidths {
  std::int64_t queries;      ///< of all its heads
  std::int64_t keys_values;  ///< without the part with positions, which is not projected up
  std::int64_t narrow;       ///< of keys and values, the part with positions included
};

ProjectionWidths widths(const Writer& w) {
  const LatentAttention& latent = w.s.model.latent;
  const StackSizes& z = w.z;
  return {z.heads * z.key_width, z.heads * (latent.head + latent.value), latent.kv_rank + latent.rotary};
}

double bytes(const StackSizes& z, std::int64_t width) { return d(z.tokens) * d(width) * d(z.element); }

/// Of one low-rank result on the tokens of this rank.
double own_bytes(const StackSizes& z, std::int64_t width) { return d(z.residual_tokens()) * d(width) * d(z.element); }

/// Parameters of a matrix whose `columns` of this rank are those of its heads.
double of_heads(const StackSizes& z, std::int64_t rows, std::int64_t columns) {
  return d(rows) * d(columns) * z.grid.columns / d(z.tensor);
}

/// Of the tokens that this rank has, into a narrow result; every rank has the whole matrix.
void down(Writer& w, Kind kind, std::int64_t narrow) {
  const StackSizes& z = w.z;
  const std::int64_t own = z.residual_tokens();
  w.begin(kind);
  w.owns(d(z.width) * d(narrow));
  w.forward.gemm(own, z.hidden, narrow);
  w.backward.gemm(own, narrow, z.hidden);
  w.backward.weight_gradient(narrow, z.hidden, own);
}

/// What a multiply keeps of a narrow result on the tokens of this rank.
double kept_bytes(const Writer& w, std::int64_t width) {
  return d(w.z.residual_tokens()) * d(width) * kept_of_input(w.s, Kind::queries_up);
}

/// The norm of a narrow result.
void narrow_norm(Writer& w, std::int64_t rank) {
  w.begin(Kind::low_rank_norm);
  w.owns(d(rank) / w.z.grid.rows);
  w.forward.touch(own_bytes(w.z, rank) * 2);
  w.backward.touch(own_bytes(w.z, rank) * 5, 2);
  w.saves(own_bytes(w.z, rank), {});
  w.saves(kept_bytes(w, rank));
}

/// From `rank` columns up to `wide` ones. With sequence parallelism `gathered` columns are gathered first; backward,
/// which kept this rank's tokens alone, gathers the `rank` columns again for the gradient of the weight and scatters
/// the sum of the gradients of all that forward gathered (Megatron-Core's ColumnParallelLinear, and
/// gather_from_sequence_parallel_region for the part with positions).
void up(Writer& w, Kind kind, std::int64_t rank, std::int64_t wide, std::int64_t gathered) {
  const StackSizes& z = w.z;
  w.begin(kind);
  w.owns(of_heads(z, rank, wide));
  if (z.split_sequence) w.forward.collective(Operation::all_gather, bytes(z, gathered));
  w.keeps_gathered(kept_bytes(w, rank));
  w.forward.gemm(z.tokens, rank, wide);
  w.backward.gather_input(bytes(z, rank));
  w.backward.gemm(z.tokens, wide, rank);
  w.backward.weight_gradient(wide, rank, z.tokens);
  if (z.split_sequence)
    w.backward.collective(Operation::reduce_scatter, bytes(z, gathered));
  else
    w.backward.collective(Operation::all_reduce, bytes(z, rank));
}

/// Without a low rank, from the layer's input.
void full_queries(Writer& w) {
  const StackSizes& z = w.z;
  const std::int64_t wide = widths(w).queries;
  w.begin(Kind::queries);
  w.owns(of_heads(z, z.hidden, wide));
  w.gathers_input(z.residual * kept_input_bytes(w.s));
  w.forward.gemm(z.tokens, z.hidden, wide);
  column_split_backward(w, wide);
}

}  // namespace

void latent_projections(Writer& w) {
  const LatentAttention& latent = w.s.model.latent;
  const StackSizes& z = w.z;
  const ProjectionWidths c = widths(w);
  Writer ups = w.inside({.latent_ups = true});
  w.begin(Kind::latent_input);
  w.backward.touch(z.residual * 3 * d(z.element));
  if (latent.query_rank > 0) {
    down(w, Kind::queries_down, latent.query_rank);
    narrow_norm(ups, latent.query_rank);
    up(ups, Kind::queries_up, latent.query_rank, c.queries, latent.query_rank);
  } else {
    full_queries(ups);
  }
  down(w, Kind::keys_values_down, c.narrow);
  w.saves(own_bytes(z, latent.rotary));
  narrow_norm(ups, latent.kv_rank);
  up(ups, Kind::keys_values_up, latent.kv_rank, c.keys_values, c.narrow);
  // The part with positions is copied to every head's keys and joined to the rest; queries are joined likewise.
  ups.begin(Kind::latent_join);
  ups.forward.touch(2 * bytes(z, z.query_key_value()), 3);
}

}  // namespace stepcast::schedules
