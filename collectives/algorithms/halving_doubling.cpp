#include "collectives/algorithm.h"
#include "collectives/algorithms/power_of_two.h"

namespace stepcast::collectives {
namespace {

/// The half of a range that a member keeps (or its partner): the upper one where its bit is set.
Range half(Range range, bool upper) { return part(range, 2, upper ? 1 : 0); }

/// Reduce-scatter by halving: in round k ranks whose numbers differ in bit k exchange halves of what they still have,
/// nearest first, so that the largest messages stay in the node. Then all-gather by doubling, the rounds in reverse.
/// Every rank of a power of two sends 2 (P - 1) / P n in 2 log2 P messages.
CollectivePlan plan_halving_doubling(const Request& request) {
  const PowerOfTwo members(request.ranks);
  CollectivePlan plan;
  plan.ranks = request.ranks;
  const ChunkId all = plan.add_chunk(request.all());
  std::vector<std::vector<TransferId>> arrived = members.fold(plan, all);
  std::vector<std::vector<Range>> held(members.rounds() + 1, std::vector<Range>(members.size(), request.all()));
  for (std::uint32_t round = 0; round < members.rounds(); ++round) {
    std::vector<std::vector<TransferId>> next(members.size());
    for (std::uint32_t a = 0; a < members.size(); ++a) {
      const std::uint32_t b = a ^ (1u << round);
      const bool upper = (a >> round & 1u) != 0;
      held[round + 1][a] = half(held[round][a], upper);
      const ChunkId given = plan.add_chunk(half(held[round][a], !upper));
      std::vector<TransferId> after = arrived[a];
      after.insert(after.end(), arrived[b].begin(), arrived[b].end());
      next[b].push_back(plan.add({plan.connect(members.rank(a), members.rank(b), 0), given, Effect::reduce}, after));
    }
    arrived = std::move(next);
  }
  std::vector<std::vector<TransferId>> before = arrived;  // in doubling a rank needs all that has come so far
  for (std::uint32_t round = members.rounds(); round-- > 0;) {
    std::vector<std::vector<TransferId>> next = before;
    for (std::uint32_t a = 0; a < members.size(); ++a) {
      const std::uint32_t b = a ^ (1u << round);
      const ChunkId known = plan.add_chunk(held[round + 1][a]);
      next[b].push_back(plan.add({plan.connect(members.rank(a), members.rank(b), 1), known, Effect::copy}, before[a]));
    }
    before = std::move(next);
  }
  members.unfold(plan, all, before);
  return plan;
}

}  // namespace

extern const Algorithm halving_doubling;
constinit const Algorithm halving_doubling{
    .name = "halving-doubling",
    .summary = "Rabenseifner: reduce-scatter by recursive halving, all-gather by recursive doubling",
    .source = "Rabenseifner, ICCS 2004, LNCS 3036, \"Optimization of collective reduction operations\"",
    .automatic = [](const Request&) { return false; },
    .supports = [](const Request& request) { return request.ranks >= 2 && request.operation == Operation::all_reduce; },
    .plan = plan_halving_doubling,
    .symmetry = [](const Request&) { return Symmetry{}; }};

}  // namespace stepcast::collectives
