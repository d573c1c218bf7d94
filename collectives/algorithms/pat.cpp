#include <algorithm>
#include <bit>
#include <vector>

#include "collectives/algorithm.h"

namespace stepcast::collectives {
namespace {

/// Whose parts `rank` hands to the rank at distance `far`, a power of two: it is one itself, and it has those of every
/// (2 * far)-th rank before it by then.
std::vector<Range> crossing(const Request& request, std::uint32_t rank, std::uint32_t far) {
  const std::uint32_t n = request.ranks;
  std::vector<Range> parts;
  for (std::uint32_t behind = 0; behind + far < n; behind += 2 * far) {
    const Range each = part(request.all(), n, (rank + n - behind) % n);
    if (each.count > 0) parts.push_back(each);
  }
  std::ranges::sort(parts, {}, &Range::begin);
  return parts;
}

/// A binomial tree for every rank, all the same but for where they begin: on the way from rank c to the rank at
/// distance d a part takes the bits of d from the highest to the lowest, one a round, and the parts that cross the same
/// edge travel together. So the far rounds move little: half of all bytes go to the next rank in the last round.
/// all_gather from the far round to the near one. reduce_scatter is the same backwards: sums go down the trees that
/// parts came up, the near round first.
CollectivePlan plan_pat(const Request& request) {
  const std::uint32_t n = request.ranks, senders = request.fold.period != 0 ? request.fold.period : n;
  const auto rounds = static_cast<std::uint32_t>(std::bit_width(n - 1));
  const bool gathers = request.operation == Operation::all_gather;
  const auto distance = [&](std::uint32_t round) { return 1u << (gathers ? rounds - 1 - round : round); };
  const auto ahead = [&](std::uint32_t rank, std::uint32_t by) { return (rank + by) % n; };
  const auto behind = [&](std::uint32_t rank, std::uint32_t by) { return (rank + n - by) % n; };
  CollectivePlan plan;
  plan.ranks = n;
  std::vector<std::vector<TransferId>> sent(rounds);  // by round, and the sender or who stands for it
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const std::uint32_t far = distance(round);
    for (std::uint32_t rank = 0; rank < senders; ++rank) {
      const std::uint32_t other = gathers ? ahead(rank, far) : behind(rank, far);
      std::vector<TransferId> after;
      for (std::uint32_t earlier = 0; earlier < round; ++earlier) {
        const std::uint32_t by = distance(earlier);
        after.push_back(sent[earlier][(gathers ? behind(rank, by) : ahead(rank, by)) % senders]);
      }
      const ChunkId chunk = plan.add_chunk(crossing(request, gathers ? rank : other, far));
      sent[round].push_back(
          plan.add({plan.connect(rank, other, 0), chunk, gathers ? Effect::copy : Effect::reduce}, after));
    }
  }
  return plan;
}

}  // namespace

extern const Algorithm pat;
constinit const Algorithm pat{
    .name = "pat",
    .summary = "a binomial tree for every rank, parts that cross the same edge together: log2 P rounds, far ones first",
    .source = "Jeaugey, PAT: a new algorithm for all-gather and reduce-scatter operations at scale, arXiv 2506.20252",
    .tree = true,
    .simple_alone = true,
    .peers_in_turn = true,
    .needs = "one GPU in each of several nodes",
    .automatic = [](const Request& request) { return by_parts(request.operation); },
    .supports =
        [](const Request& request) { return request.nodes >= 2 && request.gpus() == 1 && by_parts(request.operation); },
    .plan = plan_pat,
    .symmetry = [](const Request&) { return Symmetry{.period = 1}; }};

}  // namespace stepcast::collectives
