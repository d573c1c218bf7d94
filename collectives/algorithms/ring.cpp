#include <algorithm>

#include "collectives/algorithm.h"
#include "collectives/algorithms/ring_order.h"

namespace stepcast::collectives {
namespace {

/// Broadcast: pieces walk the ring from rank 0 to the last. Reduce: they start behind rank 0 and end at it.
CollectivePlan plan_chain(const Request& request) {
  const bool reduces = request.operation == Operation::reduce;
  const std::uint32_t n = request.ranks, channels = request.channels, count = request.pieces;
  CollectivePlan plan;
  plan.ranks = n;
  plan.pieces = count;
  plan.reserve(std::size_t{n} * channels * count, std::size_t{n} * channels * count);
  for (std::uint32_t k = 0; k < channels; ++k) {
    const RingOrder order(request, k);
    const std::uint64_t first = order.position_of(0) + (reduces ? 1u : 0u);
    for (std::uint32_t hop = 0; hop + 1 < n; ++hop) {
      plan.connect(order.rank_at(first + hop), order.rank_at(first + hop + 1), k);
    }
    for (std::uint32_t piece = 0; piece < count; ++piece) {
      const ChunkId chunk = plan.add_chunk(part(part(request.all(), channels, k), count, piece));
      TransferId before{};
      for (std::uint32_t hop = 0; hop + 1 < n; ++hop) {
        const Transfer transfer{ConnectionId{k * (n - 1) + hop}, chunk, reduces ? Effect::reduce : Effect::copy};
        before = hop == 0 ? plan.add(transfer) : plan.add(transfer, {before});
      }
    }
  }
  return plan;
}

/// Every block has a home rank. Reduce-scatter: block h starts behind its home and walks n - 1 reducing hops to it.
/// All-gather: it walks n - 1 copying hops from its home. All-reduce: the first, then the second. In step s the rank at
/// position q of the ring sends the block whose home is at position q - s (one less where the steps began by reducing).
/// Where all blocks of a channel are of one size, a step is a round.
CollectivePlan plan_ring(const Request& request) {
  if (request.operation == Operation::broadcast || request.operation == Operation::reduce) return plan_chain(request);
  const std::uint32_t n = request.ranks, channels = request.fold.rotate ? 1 : request.channels;
  const std::uint32_t sources = request.fold.period != 0 ? request.fold.period : n;
  const bool reduces = request.operation != Operation::all_gather;
  const std::uint32_t reducing = reduces ? n - 1 : 0;
  const std::uint32_t all_steps = request.operation == Operation::all_reduce ? 2 * (n - 1) : n - 1;
  const bool alike = request.elements % n == 0;
  const std::uint32_t steps = alike && request.rounds != 0 ? std::min(request.rounds, all_steps) : all_steps;

  CollectivePlan plan;
  plan.ranks = n;
  if (alike) plan.rounds = all_steps;
  const std::size_t lanes = std::size_t{channels} * sources;
  plan.reserve(lanes * steps, lanes * steps);
  std::vector<RingOrder> orders;
  std::vector<std::uint32_t> before(lanes);  // the lane of the rank behind
  for (std::uint32_t k = 0; k < channels; ++k) {
    orders.emplace_back(request, k);
    for (std::uint32_t rank = 0; rank < n; ++rank) {
      plan.add_chunk(part(part(request.all(), n, rank), request.channels, k));
    }
    for (std::uint32_t source = 0; source < sources; ++source) {
      plan.connect(source, orders[k].next(source), k);
      before[k * sources + source] = k * sources + orders[k].previous(source) % sources;
    }
  }
  for (std::uint32_t step = 0; step < steps; ++step) {
    const Effect effect = step < reducing ? Effect::reduce : Effect::copy;
    const std::uint32_t earlier_steps = (step - 1) * static_cast<std::uint32_t>(lanes);  // unused in step 0
    const std::uint64_t back = 2ull * n - step - (reduces ? 1 : 0);
    for (std::uint32_t k = 0; k < channels; ++k) {
      const RingOrder& order = orders[k];
      for (std::uint32_t source = 0; source < sources; ++source) {
        const std::uint32_t lane = k * sources + source;
        const ChunkId chunk{k * n + order.rank_at(order.position_of(source) + back)};
        const Transfer transfer{ConnectionId{lane}, chunk, effect};
        if (step == 0) {
          plan.add(transfer);
        } else {
          plan.add(transfer, {TransferId{earlier_steps + before[lane]}});
        }
      }
    }
  }
  return plan;
}

bool supports_ring(const Request& request) {
  switch (request.operation) {
    case Operation::all_reduce:
    case Operation::all_gather:
    case Operation::reduce_scatter:
    case Operation::broadcast:
    case Operation::reduce:
      return request.ranks >= 2;
    case Operation::all_to_all:
    case Operation::send_recv:
    case Operation::gather:
    case Operation::scatter:
      return false;
  }
  return false;
}

Symmetry symmetry_of_ring(const Request& request) {
  if (request.operation == Operation::broadcast || request.operation == Operation::reduce) return {};
  return ring_symmetry(request);
}

}  // namespace

extern const Algorithm ring;
constinit const Algorithm ring{.name = "ring",
                               .summary = "blocks walk around a ring through all ranks, one ring per channel",
                               .source = "Patarasuk and Yuan, J. Parallel Distrib. Comput. 69(2), 2009",
                               .automatic = [](const Request&) { return true; },
                               .supports = supports_ring,
                               .plan = plan_ring,
                               .symmetry = symmetry_of_ring};

}  // namespace stepcast::collectives
