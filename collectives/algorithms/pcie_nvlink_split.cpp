#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "collectives/algorithm.h"
#include "collectives/algorithms/merge.h"
#include "collectives/algorithms/rings.h"
#include "collectives/search/searches.h"

namespace stepcast::collectives {
namespace {

struct Split {
  std::vector<std::vector<std::uint32_t>> rings;  ///< over the ranks' usual ways, which are NVLinks
  double ratio = 0;                               ///< what these carry over what a ring over PCIe does; 0: no such pair
};

std::vector<std::uint32_t> in_order(std::uint32_t ranks) {
  std::vector<std::uint32_t> order(ranks);
  std::iota(order.begin(), order.end(), 0u);
  return order;
}

/// Rings over direct NVLinks, or through a switch one ring in the order of the ranks.
Split split(const LinkView& links) {
  if (links.host_rate <= 0) return {};
  std::vector<std::vector<std::uint32_t>> rings = rings_of(links);
  if (!rings.empty()) {
    const double rate = links.nvlink_rate * static_cast<double>(rings.size());
    return {std::move(rings), rate / links.host_rate};
  }
  double rate = std::numeric_limits<double>::infinity();
  for (std::uint32_t rank = 0; rank < links.ranks; ++rank) {
    if (!links.nvlink(rank, (rank + 1) % links.ranks)) return {};
    for (const LinkView::Hop& hop : links.way(rank, (rank + 1) % links.ranks)) {
      rate = std::min(rate, links.capacity[hop.link] / hop.load);
    }
  }
  return {{in_order(links.ranks)}, rate / links.host_rate};
}

/// PCIe carries 1 / (1 + R) of the elements where NVLink is R times as fast: both end at the same time.
CollectivePlan plan_split(const Request& request) {
  const auto [rings, ratio] = split(request.links);
  Request nvlink = request, pcie = request;
  pcie.elements = static_cast<std::int64_t>(std::llround(static_cast<double>(request.elements) / (1 + ratio)));
  nvlink.elements = request.elements - pcie.elements;
  const std::vector<std::vector<std::uint32_t>> host_ring{in_order(request.ranks)};
  CollectivePlan beside = plan_rings(pcie, host_ring);
  for (Connection& way : beside.connections) way.host_side = true;
  CollectivePlan plan = plan_rings(nvlink, rings);
  append(plan, beside, nvlink.elements);
  return plan;
}

}  // namespace

extern const Algorithm pcie_nvlink_split;
constinit const Algorithm pcie_nvlink_split{
    .name = "pcie-nvlink-split",
    .summary = "rings over NVLink and a ring over PCIe at once, data divided by their rates",
    .source = "Wang et al., Blink, MLSys 2020, section 3.5 (hybrid transfers)",
    .needs_links = true,
    .automatic = [](const Request&) { return false; },
    .supports =
        [](const Request& request) {
          const bool rings = request.operation == Operation::all_reduce || request.operation == Operation::broadcast ||
                             request.operation == Operation::reduce;
          return rings && request.ranks >= 2 && request.nodes == 1 && request.links.ranks == request.ranks &&
                 split(request.links).ratio > 0;
        },
    .plan = plan_split,
    .symmetry = [](const Request&) { return Symmetry{}; }};

}  // namespace stepcast::collectives
