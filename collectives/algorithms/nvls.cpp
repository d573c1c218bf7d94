#include <algorithm>

#include "collectives/algorithm.h"

namespace stepcast::collectives {
namespace {

/// Every rank owns a share. All push it to the switch, which adds; the owner gets the sum, writes it back to the switch
/// and the switch copies it to the others. n + n / P up and as much down at every GPU, instead of a ring's
/// 2 (P - 1) / P n each way.
CollectivePlan plan_nvls(const Request& request) {
  const std::uint32_t n = request.ranks, nvswitch = n;
  CollectivePlan plan;
  plan.ranks = n;
  plan.switches = 1;
  plan.switches_at = SwitchesAt::nodes;
  plan.pieces = request.pieces;
  std::vector<ConnectionId> push, down, write;  // push and down by owner * n + rank
  for (std::uint32_t owner = 0; owner < n; ++owner) {
    for (std::uint32_t rank = 0; rank < n; ++rank) {
      push.push_back(plan.connect(rank, nvswitch, owner));
      down.push_back(plan.connect(nvswitch, rank, owner));
    }
    write.push_back(plan.connect(owner, nvswitch, owner));
  }
  std::vector<TransferId> pushed(n);
  for (std::uint32_t piece = 0; piece < request.pieces; ++piece) {
    for (std::uint32_t owner = 0; owner < n; ++owner) {
      const ChunkId chunk = plan.add_chunk(part(part(request.all(), n, owner), request.pieces, piece));
      for (std::uint32_t rank = 0; rank < n; ++rank) {
        pushed[rank] = plan.add({push[owner * n + rank], chunk, Effect::reduce});
      }
      const TransferId sum = plan.add({down[owner * n + owner], chunk, Effect::copy}, pushed);
      const TransferId written = plan.add({write[owner], chunk, Effect::copy}, {sum});
      for (std::uint32_t rank = 0; rank < n; ++rank) {
        if (rank != owner) plan.add({down[owner * n + rank], chunk, Effect::copy}, {written});
      }
    }
  }
  return plan;
}

/// NVLinks to a switch and nothing but them.
bool over_nvswitch(const LinkView& links) {
  return std::ranges::all_of(links.nvlinks, [](std::uint32_t direct) { return direct == 0; }) &&
         std::ranges::count(links.over_nvlink, true) == std::ptrdiff_t{links.ranks} * (links.ranks - 1);
}

}  // namespace

extern const Algorithm nvls;
constinit const Algorithm nvls{
    .name = "nvls",
    .summary = "NVLink SHARP: the NVSwitch adds what all ranks push and copies the sum to all",
    .source =
        "Klenk et al., ISCA 2020, \"An in-network architecture for accelerating shared-memory multiprocessor "
        "collectives\"; NCCL 2.17 release notes",
    .needs_links = true,
    .in_nvswitch = true,
    .needs = "one node whose NVSwitches join all GPUs and add (nvlink_sharp: true)",
    .automatic = [](const Request&) { return false; },
    .supports =
        [](const Request& request) {
          return request.operation == Operation::all_reduce && request.ranks >= 2 &&
                 request.links.ranks == request.ranks && request.nvlink_sharp && over_nvswitch(request.links);
        },
    .plan = plan_nvls,
    .symmetry = [](const Request&) { return Symmetry{}; }};

}  // namespace stepcast::collectives
