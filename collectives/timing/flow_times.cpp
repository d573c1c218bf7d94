#include "collectives/timing/flow_times.h"

#include <algorithm>
#include <span>
#include <stdexcept>

#include "collectives/timing/lower.h"
#include "collectives/timing/placement.h"
#include "collectives/timing/wiring.h"
#include "sim/executor.h"

namespace stepcast::collectives {

std::vector<Time> flow_times(const CollectivePlan& plan, const Group& group, const topology::Cluster& cluster,
                             const Transport& transport) {
  const GroupPlacement placement = place(cluster, std::span(&group, 1), false);
  const std::optional<Wiring> wiring = wire(plan, placement, cluster, transport, {}, 1);
  if (!wiring) throw std::logic_error("whole flows that cannot be wired");
  const sim::TaskGraph graph = lower(plan, *wiring);
  const sim::Timeline timeline = sim::run(graph);
  std::vector<Time> times(plan.transfers.size());
  for (std::size_t task = 0; task < graph.tasks().size(); ++task) {  // of a flow's two tasks the later moves its bytes
    Time& time = times[graph.tasks()[task].tag];
    time = std::max(time, transport.launch + transport.ramp + timeline.finish[task]);
  }
  return times;
}

}  // namespace stepcast::collectives
