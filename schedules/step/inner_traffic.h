#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "models/layers/kernels.h"
#include "schedules/pass_times/layer_traffic.h"
#include "schedules/step/joined.h"
#include "schedules/step/lane_groups.h"
#include "schedules/step/step.h"

namespace stepcast::schedules {

/// Traffic inside layers as tasks of a step whose every rank has a lane.
class InnerTraffic {
 public:
  InnerTraffic(const StepInput& input, const LaneGroups& lanes);

  struct Group {
    workload::CommunicationId communication{};
    std::vector<std::uint32_t> lanes;  ///< that take part, from the first
  };
  /// With whom a lane takes part in a collective. What nobody has asked for yet is added to `communications`.
  const Group& group(std::uint32_t lane, const TensorCollective& collective,
                     std::vector<workload::Communication>& communications);

  /// All lanes of a group ask for its collectives in the same order.
  Joined& turns(Among among);

 private:
  using Key = std::tuple<std::uint32_t, Among, collectives::Operation, std::int64_t>;

  const StepInput& in_;
  const LaneGroups& lanes_;
  std::vector<std::optional<LayerTraffic>> of_lane_;
  std::map<Key, Group> groups_;                        ///< as a lane asks
  std::map<Key, workload::CommunicationId> declared_;  ///< by the group's first lane
  std::map<Among, Joined> turns_;
};

}  // namespace stepcast::schedules
