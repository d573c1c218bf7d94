#include "collectives/algorithms/two_level_all_to_all.h"

#include "collectives/algorithms/messages.h"
#include "collectives/algorithms/offsets.h"

namespace stepcast::collectives {

CollectivePlan plan_two_level_all_to_all(const Request& request) {
  const Offsets offsets(request);
  const Messages messages(request);
  const std::uint32_t lanes = offsets.lanes(), gpus = request.gpus(), nodes = request.nodes;
  CollectivePlan plan;
  plan.ranks = request.ranks;
  std::vector<Range> ranges;
  std::vector<TransferId> inside(std::size_t{lanes} * gpus);  // by lane and offset
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    const std::uint32_t source = offsets.source(lane);
    for (std::uint32_t offset = 1; offset < gpus; ++offset) {
      const std::uint32_t neighbour = offsets.after(source, offset);
      ranges.clear();
      for (std::uint32_t node = 0; node < nodes; ++node) {
        ranges.push_back(messages.of(source, node * gpus + neighbour % gpus));
      }
      inside[lane * gpus + offset] =
          plan.add({plan.connect(source, neighbour, 0), plan.add_chunk(ranges), Effect::copy});
    }
  }
  std::vector<TransferId> arrived;
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    const std::uint32_t source = offsets.source(lane);
    arrived.clear();
    for (std::uint32_t offset = 1; offset < gpus; ++offset) {
      arrived.push_back(inside[offsets.lane(offsets.before(source, offset)) * gpus + offset]);
    }
    for (std::uint32_t node = 1; node < nodes; ++node) {
      const std::uint32_t destination = offsets.after(source, node * gpus);
      ranges.clear();
      for (std::uint32_t local = 0; local < gpus; ++local) {
        ranges.push_back(messages.of(source / gpus * gpus + local, destination));
      }
      plan.add({plan.connect(source, destination, 1), plan.add_chunk(ranges), Effect::copy}, arrived);
    }
  }
  return plan;
}

}  // namespace stepcast::collectives
