#include "collectives/algorithm.h"
#include "collectives/algorithms/messages.h"
#include "collectives/algorithms/offsets.h"

namespace stepcast::collectives {
namespace {

/// In step d every rank sends to the rank at offset d and receives from the one d before it; it starts the next step
/// when both are done. One message at a time at every port.
CollectivePlan plan_pairwise(const Request& request) {
  const Offsets offsets(request);
  const Messages messages(request);
  const std::uint32_t lanes = offsets.lanes();
  CollectivePlan plan;
  plan.ranks = request.ranks;
  plan.reserve(std::size_t{lanes} * (request.ranks - 1), std::size_t{2} * lanes * (request.ranks - 1));
  std::vector<TransferId> sent(lanes), earlier(lanes);
  for (std::uint32_t offset = 1; offset < request.ranks; ++offset) {
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      const std::uint32_t source = offsets.source(lane), destination = offsets.after(source, offset);
      const Transfer transfer{plan.connect(source, destination, 0), plan.add_chunk(messages.of(source, destination)),
                              Effect::copy};
      sent[lane] = offset == 1
                       ? plan.add(transfer)
                       : plan.add(transfer, {earlier[lane], earlier[offsets.lane(offsets.before(source, offset - 1))]});
    }
    earlier = sent;
  }
  return plan;
}

}  // namespace

extern const Algorithm pairwise;
constinit const Algorithm pairwise{
    .name = "pairwise",
    .summary = "in step d every rank sends to the d-th after it and receives from the d-th before it",
    .source = "Thakur, Rabenseifner and Gropp, IJHPCA 19(1), 2005, section 4.5 (pairwise exchange)",
    .automatic = [](const Request&) { return false; },
    .supports = [](const Request& request) { return request.ranks >= 2 && request.operation == Operation::all_to_all; },
    .plan = plan_pairwise,
    .symmetry =
        [](const Request& request) { return request.pair_elements.empty() ? Offsets::symmetry(request) : Symmetry{}; }};

}  // namespace stepcast::collectives
