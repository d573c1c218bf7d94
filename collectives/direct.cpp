#include "collectives/algorithm.h"

namespace stepcast::collectives {
namespace {

/// Rank (node a, local l) sends to (a + da, l + dl) for every (da, dl) but (0, 0), all at once: nearest nodes first.
Plan plan_direct(const Request& request) {
  const std::uint32_t n = request.ranks, gpus = request.gpus();
  const std::uint32_t sources = request.fold.period != 0 ? request.fold.period : n;
  const bool gathers = request.operation == Operation::all_gather;
  Plan plan;
  plan.ranks = n;
  plan.reserve(std::size_t{sources} * (n - 1), 0);
  for (std::uint32_t source = 0; source < sources; ++source) {
    const std::uint32_t node = source / gpus, local = source % gpus;
    if (request.fold.rotate && local != 0) continue;
    ChunkId chunk{};
    if (gathers) chunk = plan.add_chunk(part(request.all(), n, source));
    for (std::uint32_t distance = 1; distance < n; ++distance) {
      const std::uint32_t to_node = (node + distance / gpus) % request.nodes, to_local = (local + distance) % gpus;
      const std::uint32_t destination = to_node * gpus + to_local;
      if (!gathers) chunk = plan.add_chunk(part({source * request.elements, request.elements}, n, destination));
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
    .source = "NCCL user guide, \"Point-to-point communication\": all-to-all as grouped sends and receives",
    .automatic = [](Operation operation) { return operation == Operation::all_to_all; },
    .supports =
        [](const Request& request) {
          return request.ranks >= 2 &&
                 (request.operation == Operation::all_to_all || request.operation == Operation::all_gather);
        },
    .plan = plan_direct,
    .symmetry =
        [](const Request& request) {
          return request.nodes == 1 ? Symmetry{1, false} : Symmetry{request.gpus(), request.gpus() > 1};
        }};

}  // namespace stepcast::collectives
