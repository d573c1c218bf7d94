#include "workload/run.h"

#include <vector>

namespace stepcast::workload {

sim::Timeline run(const Program& program, const Flows& flows) {
  sim::TaskGraph graph = program.graph();
  const auto first = static_cast<std::uint32_t>(graph.resources().size());
  for (const Bandwidth capacity : flows.shared()) graph.add_resource(capacity);
  std::vector<sim::TaskGraph::Bound> bound;
  for (std::uint32_t i = 0; i < flows.count(); ++i) {
    const CommunicationId id{i};
    if (const std::optional<sim::RouteId> route = program.route(id))
      bound.push_back({*route, flows.route(id, first), flows.amount(id)});
  }
  graph.bind(bound);
  return sim::run(graph);
}

}  // namespace stepcast::workload
