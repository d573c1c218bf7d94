#include "workload/run.h"

#include <vector>

#include "workload/received.h"

namespace stepcast::workload {
namespace {

/// Every link that communications share has carried what they handed to it. `first`: of the links' resources.
void check_links(const Program& program, const Flows& flows, const sim::Timeline& timeline, std::uint32_t first) {
  std::vector<double> times(flows.count(), 0);
  for (std::uint32_t t = 0; t < program.tasks(); ++t)
    if (const std::optional<CommunicationId> communication = program.communication(sim::TaskId{t}))
      ++times[index(*communication)];
  const std::vector<double> handed = flows.handed(times);
  for (std::size_t shared = 0; shared < handed.size(); ++shared)
    check_received(flows.cluster(), flows.shared_links()[shared], handed[shared], timeline.carried[first + shared]);
}

}  // namespace

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
  sim::Timeline timeline = sim::run(graph);
  check_links(program, flows, timeline, first);
  return timeline;
}

}  // namespace stepcast::workload
