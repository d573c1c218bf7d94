#include "schedules/step/lane_groups.h"

#include "schedules/pipeline/placement.h"

namespace stepcast::schedules {

LaneGroups::LaneGroups(const Shape& shape, const Ranks& ranks, bool unfold)
    : shape_(shape), ranks_(ranks), unfold_(unfold), replicas_(unfold ? ranks.stage_ranks() : 1) {}

std::uint32_t LaneGroups::leader(std::uint32_t of, std::uint32_t virtual_stage) const {
  const Coordinate c = at(of);
  const std::uint32_t stage =
      copies(shape_) == 1 ? c.stage : place(shape_, {0, held(shape_, {c.stage, virtual_stage}).chunk}).stage;
  return lane(unfold_ ? c.tensor : 0, stage);
}

std::vector<std::uint32_t> LaneGroups::leaders(std::uint32_t of) const {
  if (copies(shape_) == 1) return {leader(of, 0)};
  return {leader(of, 0), leader(of, 1)};
}

std::vector<std::uint32_t> LaneGroups::members(std::uint32_t leader) const {
  const Coordinate c = at(leader);
  std::vector<std::uint32_t> stages{c.stage};
  if (copies(shape_) > 1) stages.push_back(place(shape_, {1, held(shape_, {c.stage, 0}).chunk}).stage);
  std::vector<std::uint32_t> lanes;
  for (const std::uint32_t stage : stages) {
    for (std::uint32_t d = 0; d < (unfold_ ? weight_copies(ranks_.plan()) : 1); ++d)
      lanes.push_back(lane(ranks_.place_in_stage({c.tensor, d, stage}), stage));
  }
  return lanes;
}

}  // namespace stepcast::schedules
