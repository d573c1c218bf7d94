#include "collectives/algorithm.h"

namespace stepcast::collectives {
namespace {

CollectivePlan plan_send_recv(const Request& request) {
  CollectivePlan plan;
  plan.ranks = request.ranks;
  const ChunkId chunk = plan.add_chunk(request.all());
  plan.add({plan.connect(0, 1, 0), chunk, Effect::copy});
  return plan;
}

}  // namespace

extern const Algorithm send_recv;
constinit const Algorithm send_recv{
    .name = "send-recv",
    .summary = "rank 0 sends, rank 1 receives",
    .source = "NCCL user guide, \"Point-to-point communication\"",
    .automatic = [](const Request&) { return true; },
    .supports = [](const Request& request) { return request.ranks == 2 && request.operation == Operation::send_recv; },
    .plan = plan_send_recv,
    .symmetry = [](const Request&) { return Symmetry{}; }};

}  // namespace stepcast::collectives
