#include "collectives/algorithms/rings.h"

#include <algorithm>

namespace stepcast::collectives {
namespace {

/// Pieces walk from rank 0 to the last of the ring (broadcast), or from the one behind rank 0 to it (reduce).
void add_chain(CollectivePlan& plan, const Request& request, std::vector<std::uint32_t> order, std::uint32_t k,
               std::uint32_t rings) {
  const bool reduces = request.operation == Operation::reduce;
  std::rotate(order.begin(), std::ranges::find(order, 0u), order.end());
  if (reduces) std::rotate(order.begin(), order.begin() + 1, order.end());
  std::vector<ConnectionId> way;
  for (std::size_t hop = 0; hop + 1 < order.size(); ++hop) way.push_back(plan.connect(order[hop], order[hop + 1], k));
  for (std::uint32_t piece = 0; piece < request.pieces; ++piece) {
    const ChunkId chunk = plan.add_chunk(part(part(request.all(), rings, k), request.pieces, piece));
    TransferId before{};
    for (std::size_t hop = 0; hop < way.size(); ++hop) {
      const Transfer transfer{way[hop], chunk, reduces ? Effect::reduce : Effect::copy};
      before = hop == 0 ? plan.add(transfer) : plan.add(transfer, {before});
    }
  }
}

/// Every rank's block walks the ring, as in algorithm "ring".
void add_ring(CollectivePlan& plan, const Request& request, const std::vector<std::uint32_t>& order, std::uint32_t k,
              std::uint32_t rings) {
  const std::uint32_t n = request.ranks;
  const bool reduces = request.operation != Operation::all_gather;
  const std::uint32_t reducing = reduces ? n - 1 : 0;
  const std::uint32_t steps = request.operation == Operation::all_reduce ? 2 * (n - 1) : n - 1;
  std::vector<ConnectionId> way(n);
  std::vector<ChunkId> block(n);  // by position of its home
  for (std::uint32_t at = 0; at < n; ++at) {
    way[at] = plan.connect(order[at], order[(at + 1) % n], k);
    block[at] = plan.add_chunk(part(part(request.all(), n, order[at]), rings, k));
  }
  std::vector<TransferId> sent(n), earlier(n);
  for (std::uint32_t step = 0; step < steps; ++step) {
    for (std::uint32_t at = 0; at < n; ++at) {
      const Transfer transfer{way[at], block[(at + 2 * n - step - (reduces ? 1 : 0)) % n],
                              step < reducing ? Effect::reduce : Effect::copy};
      sent[at] = step == 0 ? plan.add(transfer) : plan.add(transfer, {earlier[(at + n - 1) % n]});
    }
    earlier = sent;
  }
}

}  // namespace

CollectivePlan plan_rings(const Request& request, std::span<const std::vector<std::uint32_t>> rings) {
  const bool chain = request.operation == Operation::broadcast || request.operation == Operation::reduce;
  const auto count = static_cast<std::uint32_t>(rings.size());
  CollectivePlan plan;
  plan.ranks = request.ranks;
  if (chain) plan.pieces = request.pieces;
  for (std::uint32_t k = 0; k < count; ++k) {
    chain ? add_chain(plan, request, rings[k], k, count) : add_ring(plan, request, rings[k], k, count);
  }
  return plan;
}

}  // namespace stepcast::collectives
