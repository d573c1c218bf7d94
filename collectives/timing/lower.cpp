#include "collectives/timing/lower.h"

#include <limits>

namespace stepcast::collectives {

std::vector<std::optional<sim::TaskId>> add_group(const Plan& plan, const GroupRoutes& over,
                                                  std::optional<sim::TaskId> begin, sim::TaskGraph& graph) {
  std::vector<sim::TaskId> task(plan.transfers.size());
  std::vector<std::optional<sim::TaskId>> last(plan.connections.size());
  for (std::uint32_t t = 0; t < plan.transfers.size(); ++t) {
    const Transfer& transfer = plan.transfers[t];
    const std::uint32_t connection = index(transfer.connection);
    std::optional<sim::TaskId> ahead;
    if (over.ahead[connection].value > 0)
      ahead = graph.work(std::span<const sim::StreamId>{}, over.ahead[connection], t);
    task[t] = graph.transfer(over.routes[connection], {plan.elements(transfer.chunk)}, t);
    const sim::TaskId waits = ahead.value_or(task[t]);
    for (const TransferId earlier : plan.after(TransferId{t})) graph.after(waits, task[index(earlier)]);
    if (begin && plan.after(TransferId{t}).empty()) graph.after(waits, *begin);
    if (ahead) graph.after(task[t], *ahead);
    if (last[connection]) graph.after(task[t], *last[connection]);
    last[connection] = task[t];
  }
  return last;
}

sim::TaskGraph lower(const Plan& plan, const Wiring& wiring, double scale) {
  sim::TaskGraph graph;
  constexpr Bandwidth kNeverFull{std::numeric_limits<double>::infinity()};
  for (std::size_t resource = 0; resource < wiring.capacity.size(); ++resource)
    graph.add_resource(wiring.binds[resource] ? wiring.capacity[resource] * scale : kNeverFull);
  std::vector<sim::RouteId> routes;
  routes.reserve(wiring.routes.size());
  graph.reserve_routes(wiring.routes.size(), wiring.routes.uses().size());
  sim::Route route;
  for (const sim::Routes::Stored stored : wiring.routes) {
    route.uses.assign(stored.uses.begin(), stored.uses.end());
    route.latency = stored.latency;
    route.limit = stored.limit * scale;
    route.weight = stored.weight;
    routes.push_back(graph.add_route(route));
  }
  const std::size_t transfers = plan.transfers.size() * wiring.groups;
  graph.reserve(transfers + transfers / 4, 2 * transfers + transfers / 4);
  for (std::uint32_t g = 0; g < wiring.groups; ++g) {
    const std::size_t first = std::size_t{g} * wiring.connections;
    add_group(plan,
              {std::span(routes).subspan(first, wiring.connections),
               std::span(wiring.ahead).subspan(first, wiring.connections)},
              std::nullopt, graph);
  }
  return graph;
}

}  // namespace stepcast::collectives
