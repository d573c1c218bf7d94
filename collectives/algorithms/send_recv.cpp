#include "collectives/algorithm.h"

namespace stepcast::collectives {
namespace {

/// Of two ranks the first sends and the second receives, as stages of a pipeline do. More of them all send to the next
/// at once, the last to the first, as nccl-tests' sendrecv_perf has them.
CollectivePlan plan_send_recv(const Request& request) {
  CollectivePlan plan;
  plan.ranks = request.ranks;
  const std::uint32_t senders = request.ranks == 2 ? 1 : request.fold.period != 0 ? request.fold.period : request.ranks;
  for (std::uint32_t rank = 0; rank < senders; ++rank) {
    const ChunkId chunk = plan.add_chunk({rank * request.elements, request.elements});
    plan.add({plan.connect(rank, (rank + 1) % request.ranks, 0), chunk, Effect::copy});
  }
  return plan;
}

}  // namespace

extern const Algorithm send_recv;
constinit const Algorithm send_recv{
    .name = "send-recv",
    .summary = "rank 0 sends, rank 1 receives; of more than two each sends to the next, the last to the first",
    .source = "NCCL user guide, \"Point-to-point communication\"; nccl-tests, src/sendrecv.cu",
    .automatic = [](const Request&) { return true; },
    .supports = [](const Request& request) { return request.ranks >= 2 && request.operation == Operation::send_recv; },
    .plan = plan_send_recv,
    .symmetry =
        [](const Request& request) {
          return request.ranks == 2 ? Symmetry{} : Symmetry{.period = request.nodes == 1 ? 1 : request.gpus()};
        }};

}  // namespace stepcast::collectives
