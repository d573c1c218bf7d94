#include "collectives/algorithm.h"
#include "collectives/algorithms/power_of_two.h"

namespace stepcast::collectives {
namespace {

/// In round k ranks whose numbers differ in bit k exchange all they have and add it: log2 P rounds of n each.
CollectivePlan plan_butterfly(const Request& request) {
  const PowerOfTwo members(request.ranks);
  CollectivePlan plan;
  plan.ranks = request.ranks;
  const ChunkId all = plan.add_chunk(request.all());
  std::vector<std::vector<TransferId>> arrived = members.fold(plan, all);
  for (std::uint32_t round = 0; round < members.rounds(); ++round) {
    std::vector<std::vector<TransferId>> next(members.size());
    for (std::uint32_t a = 0; a < members.size(); ++a) {
      const std::uint32_t b = a ^ (1u << round);
      // Both wait for the same: neither adds before the other has read.
      std::vector<TransferId> after = arrived[a];
      after.insert(after.end(), arrived[b].begin(), arrived[b].end());
      next[b].push_back(plan.add({plan.connect(members.rank(a), members.rank(b), 0), all, Effect::reduce}, after));
    }
    arrived = std::move(next);
  }
  members.unfold(plan, all, arrived);
  return plan;
}

}  // namespace

extern const Algorithm butterfly;
constinit const Algorithm butterfly{
    .name = "butterfly",
    .summary = "recursive doubling: log2 P exchanges of everything, with ranks twice as far each time",
    .source = "Thakur, Rabenseifner and Gropp, IJHPCA 19(1), 2005, section 4.4 (recursive doubling)",
    .automatic = [](const Request&) { return false; },
    .supports = [](const Request& request) { return request.ranks >= 2 && request.operation == Operation::all_reduce; },
    .plan = plan_butterfly,
    .symmetry = [](const Request&) { return Symmetry{}; }};

}  // namespace stepcast::collectives
