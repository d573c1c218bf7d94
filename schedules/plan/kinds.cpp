#include "schedules/plan/kinds.h"

#include "models/layers/blocks.h"
#include "models/layers/frozen.h"
#include "models/layers/model_blocks.h"
#include "schedules/pass_times/chunks.h"

namespace stepcast::schedules {
namespace {

/// One micro-batch forward and backward through the whole model, on the rank at `c`.
Time pass(const Scenario& s, const Ranks& ranks, const collectives::Timer& timer, Coordinate c) {
  Blocks model = blocks(s);
  freeze(model, s.training);
  const std::vector<BlockRange> whole = cut(model, 1);
  const Chunk chunk = PieceTimes(s, model, ranks, timer, false, false).chunk(c, whole, 0);
  return in_a_row(chunk.forward) + in_a_row(chunk.backward);
}

}  // namespace

TwoKinds sharing_of(const Scenario& s) {
  const std::uint32_t first = s.cluster.other->first / (s.parallelism.tensor * s.parallelism.context);
  return {{first, s.parallelism.data - first}, s.training.micro_batch * s.parallelism.data};
}

std::vector<std::uint32_t> gpus_of_kinds(const Scenario& s) {
  if (!s.cluster.other) return {s.cluster.gpus};
  return {s.cluster.other->first, s.cluster.gpus - s.cluster.other->first};
}

bool is_held_by(const Scenario& s, const Ranks& ranks, std::uint32_t stage, std::size_t kind) {
  const std::uint32_t last = weight_copies(s.parallelism) - 1;  // those of the other kind are behind all others
  return is_other(s.cluster, ranks.gpu({0, kind == 0 ? 0 : last, stage})) == (kind == 1);
}

std::vector<Scenario> kinds_of(const Scenario& s, const Ranks& ranks, const collectives::Timer& timer) {
  if (!s.cluster.other) return {s};
  std::vector<Scenario> kinds{s, s};
  kinds[1].cluster.gpu = s.cluster.other->gpu;
  if (!s.training.balance) return kinds;
  const TwoKinds sharing = sharing_of(s);
  const std::uint32_t other = sharing.ranks[0] * s.parallelism.context;  // the first data coordinate of that kind
  const Shares shares = balance(sharing, [&](std::size_t kind, std::int64_t samples) {
    Scenario tried = kinds[kind];
    tried.training.micro_batch = samples;
    return pass(tried, ranks, timer, {0, kind == 0 ? 0 : other, 0});
  });
  for (const std::size_t kind : {0u, 1u}) kinds[kind].training.micro_batch = shares[kind];
  return kinds;
}

}  // namespace stepcast::schedules
