#include "collectives/timing/lower.h"

#include <optional>

namespace stepcast::collectives {

sim::TaskGraph lower(const Plan& plan, const Wiring& wiring, double scale) {
  sim::TaskGraph graph;
  for (const Bandwidth capacity : wiring.capacity) graph.add_resource(capacity * scale);
  for (sim::Route route : wiring.routes) {
    route.limit = route.limit * scale;
    graph.add_route(route);
  }
  const std::size_t transfers = plan.transfers.size() * wiring.groups;
  graph.reserve(transfers + transfers / 4, 2 * transfers + transfers / 4);

  std::vector<sim::TaskId> task(plan.transfers.size());
  std::vector<std::optional<sim::TaskId>> last;
  for (std::uint32_t g = 0; g < wiring.groups; ++g) {
    last.assign(plan.connections.size(), std::nullopt);
    for (std::uint32_t t = 0; t < plan.transfers.size(); ++t) {
      const Transfer& transfer = plan.transfers[t];
      const std::uint32_t connection = index(transfer.connection), route = g * wiring.connections + connection;
      const auto after_data = [&](sim::TaskId later) {
        for (const TransferId earlier : plan.after(TransferId{t})) graph.after(later, task[index(earlier)]);
      };
      std::optional<sim::TaskId> ahead;
      if (wiring.ahead[route].value > 0) {
        ahead = graph.work(std::span<const sim::StreamId>{}, wiring.ahead[route], t);
        after_data(*ahead);
      }
      task[t] = graph.transfer(sim::RouteId{route}, {plan.elements(transfer.chunk)}, t);
      if (ahead) {
        graph.after(task[t], *ahead);
      } else {
        after_data(task[t]);
      }
      if (last[connection]) graph.after(task[t], *last[connection]);
      last[connection] = task[t];
    }
  }
  return graph;
}

}  // namespace stepcast::collectives
