#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "models/layers/kernels.h"
#include "schedules/step/lane_groups.h"
#include "schedules/step/step.h"
#include "schedules/step/traffic.h"
#include "workload/flows.h"

namespace stepcast::schedules {

/// Traffic inside layers, as communications of a step: that of the chunks which a step's traffic has in parts.
class InnerTraffic {
 public:
  /// Adds to `traffic` every collective that its chunks hold.
  InnerTraffic(const StepInput& input, const LaneGroups& lanes, Traffic& traffic);

  struct Group {
    workload::CommunicationId communication{};
    std::vector<std::uint32_t> lanes;  ///< that take part, from the first
    bool meets = true;                 ///< other traffic, so that it must be simulated among it
  };
  /// With whom a lane takes part in a collective.
  const Group& group(std::uint32_t lane, const TensorCollective& collective) const;

  /// Keeps in parts those chunks of `traffic` alone that hold what meets other traffic on some link. The rest takes
  /// the time that it takes alone. Whether there is anything left.
  bool keep_what_meets(const workload::Flows& flows, Traffic& traffic);

 private:
  using Key = std::tuple<std::uint32_t, Among, collectives::Operation, std::int64_t>;
  static Key key(std::uint32_t lane, const TensorCollective& c) { return {lane, c.among, c.operation, c.bytes.value}; }
  bool any_meets(std::uint32_t lane, const DataPlan& plan) const;

  std::map<Key, Group> groups_;  ///< as a lane asks
};

/// Whether traffic inside layers might meet any other: there is some, and something runs beside it.
bool inner_may_meet(const StepInput& input);

/// Chunks that nobody wants to see in parts.
void see_whole(Traffic& traffic);

}  // namespace stepcast::schedules
