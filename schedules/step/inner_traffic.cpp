#include "schedules/step/inner_traffic.h"

#include <algorithm>
#include <set>

namespace stepcast::schedules {

InnerTraffic::InnerTraffic(const StepInput& input, const LaneGroups& lanes)
    : in_(input), lanes_(lanes), of_lane_(input.pipeline->shape.stages * lanes.replicas()) {}

const InnerTraffic::Group& InnerTraffic::group(std::uint32_t lane, const TensorCollective& collective,
                                               std::vector<workload::Communication>& communications) {
  const auto [known, fresh] =
      groups_.try_emplace({lane, collective.among, collective.operation, collective.bytes.value});
  Group& group = known->second;
  if (!fresh) return group;
  std::optional<LayerTraffic>& traffic = of_lane_[lane];
  if (!traffic) traffic.emplace(in_.scenario, in_.ranks, lanes_.at(lane));
  workload::Communication communication = traffic->communication(collective);
  std::set<std::uint32_t> members;
  for (const workload::Collective& one : communication.collectives)
    for (std::uint32_t g = 0; g < one.own; ++g)
      for (const topology::GpuId gpu : (*one.groups)[g]) {
        const Coordinate at = in_.ranks.coordinate(topology::index(gpu));
        members.insert(lanes_.lane(in_.ranks.place_in_stage(at), at.stage));
      }
  group.lanes.assign(members.begin(), members.end());
  const auto [made, first] =
      declared_.try_emplace({group.lanes.front(), collective.among, collective.operation, collective.bytes.value},
                            workload::CommunicationId{static_cast<std::uint32_t>(communications.size())});
  if (first) communications.push_back(std::move(communication));
  group.communication = made->second;
  return group;
}

Joined& InnerTraffic::turns(Among among) {
  return turns_.try_emplace(among, static_cast<std::uint32_t>(of_lane_.size())).first->second;
}

}  // namespace stepcast::schedules
