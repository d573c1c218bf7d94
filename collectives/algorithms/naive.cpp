#include "collectives/algorithm.h"
#include "collectives/algorithms/offsets.h"

namespace stepcast::collectives {
namespace {

/// Every rank sends all it has to every other at once, and everyone adds everything: n (P - 1) out of every rank,
/// P (P - 1) n in all.
CollectivePlan plan_naive(const Request& request) {
  const Offsets offsets(request);
  CollectivePlan plan;
  plan.ranks = request.ranks;
  plan.reserve(std::size_t{offsets.lanes()} * (request.ranks - 1), 0);
  const ChunkId all = plan.add_chunk(request.all());
  for (std::uint32_t lane = 0; lane < offsets.lanes(); ++lane) {
    const std::uint32_t source = offsets.source(lane);
    for (std::uint32_t offset = 1; offset < request.ranks; ++offset) {
      plan.add({plan.connect(source, offsets.after(source, offset), 0), all, Effect::reduce});
    }
  }
  return plan;
}

}  // namespace

extern const Algorithm naive;
constinit const Algorithm naive{
    .name = "naive",
    .summary = "every rank sends its whole buffer to every other, which add",
    .source = "Ben-Nun and Hoefler, ACM Computing Surveys 52(4), 2019, section 6.3 (all-to-all exchange of gradients)",
    .automatic = [](const Request&) { return false; },
    .supports = [](const Request& request) { return request.ranks >= 2 && request.operation == Operation::all_reduce; },
    .plan = plan_naive,
    .symmetry = Offsets::symmetry};

}  // namespace stepcast::collectives
