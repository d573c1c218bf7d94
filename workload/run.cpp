#include "workload/run.h"

#include <vector>

namespace stepcast::workload {

sim::Timeline run(const Program& program, const Flows& flows) {
  sim::TaskGraph graph = program.graph();
  const auto first = static_cast<std::uint32_t>(graph.resources().size());
  for (const Bandwidth capacity : flows.shared()) graph.add_resource(capacity);
  // What slows engines shares these with kernels, which weigh 1: so does it, and all others are measured by the longest
  // of such.
  std::vector<sim::TaskGraph::Bound> bound;
  double unit = 1;
  Bytes longest{};
  for (std::uint32_t i = 0; i < flows.count(); ++i) {
    const CommunicationId id{i};
    const std::optional<sim::RouteId> route = program.route(id);
    if (!route) continue;
    const bool on_engines = !graph.routes()[sim::index(*route)].uses.empty();
    bound.push_back({*route, flows.route(id, first), flows.amount(id)});
    if (!flows.shares(id)) continue;
    if (!on_engines) bound.back().over.weight = flows.weight(id);
    if (!on_engines || flows.amount(id) <= longest) continue;
    longest = flows.amount(id);
    unit = flows.weight(id);
  }
  for (sim::TaskGraph::Bound& each : bound)
    if (each.over.weight != 1) each.over.weight /= unit;
  graph.bind(bound);
  return sim::run(graph);
}

}  // namespace stepcast::workload
