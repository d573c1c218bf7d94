#include <algorithm>
#include <bit>
#include <vector>

#include "collectives/algorithm.h"

namespace stepcast::collectives {
namespace {

/// A binomial tree for every rank, all the same but for where they begin: on the way from rank c to the rank at
/// distance d a part takes the bits of d from the highest to the lowest, one a round, and the parts that cross the same
/// edge travel together. So the far rounds move little: half of all bytes go to the next rank in the last round.
class Trees {
 public:
  explicit Trees(const Request& request) : request_(request) {}

  std::uint32_t rounds() const { return static_cast<std::uint32_t>(std::bit_width(request_.ranks - 1)); }

  /// Whose parts `rank` hands to the rank at distance `far`, a power of two: it is one itself, and it has those of
  /// every (2 * far)-th rank before it by then.
  std::vector<Range> crossing(std::uint32_t rank, std::uint32_t far) const {
    const std::uint32_t n = request_.ranks;
    std::vector<Range> parts;
    for (std::uint32_t behind = 0; behind + far < n; behind += 2 * far) {
      const Range each = part(request_.all(), n, (rank + n - behind) % n);
      if (each.count > 0) parts.push_back(each);
    }
    std::ranges::sort(parts, {}, &Range::begin);
    return parts;
  }

 private:
  const Request& request_;
};

/// all_gather from the far round to the near one. reduce_scatter is the same backwards: sums go down the trees that
/// parts came up, the near round first.
CollectivePlan plan_pat(const Request& request) {
  const Trees trees(request);
  const std::uint32_t n = request.ranks, senders = request.fold.period != 0 ? request.fold.period : n;
  const bool gathers = request.operation == Operation::all_gather;
  CollectivePlan plan;
  plan.ranks = n;
  std::vector<std::vector<TransferId>> sent;  // of earlier rounds, by the sender or who stands for it
  std::vector<std::uint32_t> distances;       // of those rounds
  for (std::uint32_t round = 0; round < trees.rounds(); ++round) {
    const std::uint32_t far = 1u << (gathers ? trees.rounds() - 1 - round : round);
    const auto sender_to = [&](std::uint32_t rank, std::uint32_t distance) {
      return (gathers ? rank + n - distance : rank + distance) % n;
    };
    std::vector<TransferId> now;
    for (std::uint32_t rank = 0; rank < senders; ++rank) {
      const std::uint32_t other = (gathers ? rank + far : rank + n - far) % n;
      std::vector<TransferId> after;
      for (std::size_t earlier = 0; earlier < sent.size(); ++earlier)
        after.push_back(sent[earlier][sender_to(rank, distances[earlier]) % senders]);
      const ChunkId chunk = plan.add_chunk(trees.crossing(gathers ? rank : other, far));
      now.push_back(plan.add({plan.connect(rank, other, 0), chunk, gathers ? Effect::copy : Effect::reduce}, after));
    }
    sent.push_back(std::move(now));
    distances.push_back(far);
  }
  return plan;
}

bool gathers_or_scatters(const Request& request) {
  return request.operation == Operation::all_gather || request.operation == Operation::reduce_scatter;
}

}  // namespace

extern const Algorithm pat;
constinit const Algorithm pat{
    .name = "pat",
    .summary = "a binomial tree for every rank, parts that cross the same edge together: log2 P rounds, far ones first",
    .source = "Jeaugey, PAT: a new algorithm for all-gather and reduce-scatter operations at scale, arXiv 2506.20252",
    .tree = true,
    .simple_alone = true,
    .needs = "one GPU in each of several nodes",
    .automatic = gathers_or_scatters,
    .supports =
        [](const Request& request) {
          return request.nodes >= 2 && request.gpus() == 1 && gathers_or_scatters(request);
        },
    .plan = plan_pat,
    .symmetry = [](const Request&) { return Symmetry{.period = 1}; }};

}  // namespace stepcast::collectives
