#include "collectives/algorithm.h"
#include "collectives/algorithms/rings.h"
#include "collectives/search/searches.h"

namespace stepcast::collectives {
namespace {

bool of_rings(Operation operation) {
  return operation == Operation::all_reduce || operation == Operation::all_gather ||
         operation == Operation::reduce_scatter || operation == Operation::broadcast || operation == Operation::reduce;
}

}  // namespace

extern const Algorithm multi_ring;
constinit const Algorithm multi_ring{
    .name = "multi-ring",
    .summary = "as many rings over direct NVLinks as share no link's direction, found by search",
    .source = "Wang et al., Blink, MLSys 2020, section 2.3 (NCCL's rings); Jeaugey, NCCL 2.0, GTC 2017",
    .needs_links = true,
    .needs = "direct NVLinks that join all ranks in a ring",
    .automatic = [](const Request&) { return false; },
    .supports =
        [](const Request& request) {
          return request.ranks >= 2 && of_rings(request.operation) && request.links.ranks == request.ranks &&
                 !rings_of(request.links).empty();
        },
    .plan = [](const Request& request) { return plan_rings(request, rings_of(request.links)); },
    .symmetry = [](const Request&) { return Symmetry{}; }};

}  // namespace stepcast::collectives
