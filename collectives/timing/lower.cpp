#include "collectives/timing/lower.h"

#include <algorithm>

namespace stepcast::collectives {
namespace {

/// Whether some connection has more than one transfer.
bool any_twice(const CollectivePlan& plan) {
  std::vector<bool> seen(plan.connections.size());
  return std::ranges::any_of(plan.transfers, [&](const Transfer& transfer) {
    const bool before = seen[index(transfer.connection)];
    seen[index(transfer.connection)] = true;
    return before;
  });
}

}  // namespace

std::vector<std::optional<sim::TaskId>> add_group(const CollectivePlan& plan, const GroupRoutes& over,
                                                  std::optional<sim::TaskId> begin, sim::TaskGraph& graph) {
  std::vector<sim::TaskId> task(plan.transfers.size());
  std::vector<std::optional<sim::TaskId>> last(plan.connections.size());
  for (std::uint32_t t = 0; t < plan.transfers.size(); ++t) {
    const Transfer& transfer = plan.transfers[t];
    const std::uint32_t connection = index(transfer.connection);
    std::optional<sim::TaskId> ahead;
    if (!over.ahead.empty() && over.ahead[connection].value > 0)
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

sim::TaskGraph lower(const CollectivePlan& plan, const Wiring& wiring, double scale) {
  sim::TaskGraph graph;
  for (const Bandwidth capacity : wiring.capacity) graph.add_resource(capacity * scale);
  // Where no connection has a transfer before another, none can overlap.
  const bool overlaps = any_twice(plan);
  graph.set_routes(wiring.routes.changed([&](sim::Routes::Terms terms) {
    if (overlaps) terms.latency = wiring.occupancy;
    terms.limit = terms.limit * scale;
    return terms;
  }));
  const std::size_t transfers = plan.transfers.size() * wiring.groups;
  if (overlaps)
    graph.reserve(transfers + transfers / 4, 2 * transfers + transfers / 4);
  else
    graph.reserve(transfers, 0);
  std::vector<sim::RouteId> routes(wiring.connections);
  std::vector<Time> ahead(overlaps ? wiring.connections : 0);
  for (std::uint32_t g = 0; g < wiring.groups; ++g) {
    for (std::uint32_t c = 0; c < wiring.connections; ++c) {
      const std::uint32_t route = g * wiring.connections + c;
      routes[c] = sim::RouteId{route};
      if (overlaps) ahead[c] = wiring.ahead(route);
    }
    add_group(plan, {routes, ahead}, std::nullopt, graph);
  }
  return graph;
}

}  // namespace stepcast::collectives
