#include "collectives/algorithm.h"
#include "collectives/algorithms/messages.h"
#include "collectives/algorithms/offsets.h"

namespace stepcast::collectives {
namespace {

/// The root sends every other rank its part, or gets it, all at once.
CollectivePlan plan_rooted(const Request& request) {
  CollectivePlan plan;
  plan.ranks = request.ranks;
  plan.reserve(request.ranks, 0);
  for (std::uint32_t rank = 1; rank < request.ranks; ++rank) {
    const bool gathers = request.operation == Operation::gather;
    const ChunkId chunk = plan.add_chunk(part(request.all(), request.ranks, rank));
    plan.add({gathers ? plan.connect(rank, 0, 0) : plan.connect(0, rank, 0), chunk, Effect::copy});
  }
  return plan;
}

bool rooted(const Request& request) {
  return request.operation == Operation::gather || request.operation == Operation::scatter;
}

/// Every rank sends to every other, nearest nodes first, all at once.
CollectivePlan plan_direct(const Request& request) {
  if (rooted(request)) return plan_rooted(request);
  const Offsets offsets(request);
  const Messages messages(request);
  const bool gathers = request.operation == Operation::all_gather;
  CollectivePlan plan;
  plan.ranks = request.ranks;
  plan.reserve(std::size_t{offsets.lanes()} * (request.ranks - 1), 0);
  for (std::uint32_t lane = 0; lane < offsets.lanes(); ++lane) {
    const std::uint32_t source = offsets.source(lane);
    ChunkId chunk{};
    if (gathers) chunk = plan.add_chunk(part(request.all(), request.ranks, source));
    for (std::uint32_t offset = 1; offset < request.ranks; ++offset) {
      const std::uint32_t destination = offsets.after(source, offset);
      if (!gathers) chunk = plan.add_chunk(messages.of(source, destination));
      plan.add({plan.connect(source, destination, 0), chunk, Effect::copy});
    }
  }
  return plan;
}

}  // namespace

extern const Algorithm direct;
constinit const Algorithm direct{
    .name = "direct",
    .summary = "every rank sends to every other at once",
    .source =
        "NCCL user guide, \"Point-to-point communication\": all-to-all, gather and scatter as grouped sends and "
        "receives",
    .automatic = [](const Request& request) { return request.operation == Operation::all_to_all || rooted(request); },
    .supports =
        [](const Request& request) {
          return request.ranks >= 2 && (request.operation == Operation::all_to_all ||
                                        request.operation == Operation::all_gather || rooted(request));
        },
    .plan = plan_direct,
    .symmetry =
        [](const Request& request) {
          return rooted(request) || !request.pair_elements.empty() ? Symmetry{} : Offsets::symmetry(request);
        }};

}  // namespace stepcast::collectives
