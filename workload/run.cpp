#include "workload/run.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "workload/received.h"

namespace stepcast::workload {
namespace {

using sim::TaskId;

/// Communications that use engines and meet others on links do each as a flow of its own: engines for as long as the
/// communication takes alone, links for as long as it takes. Both begin together, and it ends with the last.
class OnLinks {
 public:
  OnLinks(sim::TaskGraph& graph, const Program& program) : graph_(graph), tasks_(program.tasks()) {}

  /// Of the route's transfers, what they do on links.
  void add(sim::RouteId route, const sim::Route& links, Bytes bytes) {
    flows_.resize(std::max(flows_.size(), sim::index(route) + std::size_t{1}));
    flows_[sim::index(route)] = {graph_.add_route(links), bytes};
  }

  /// Once all are known.
  void add_tasks() {
    if (flows_.empty()) return;
    beside_.resize(tasks_);
    for (std::uint32_t t = 0; t < tasks_; ++t) {
      const std::size_t route = sim::index(graph_.tasks()[t].route);
      if (route < flows_.size() && flows_[route])
        beside_[t] = graph_.transfer(flows_[route]->over, flows_[route]->bytes);
    }
    const std::vector<sim::TaskGraph::Dependency> all(graph_.dependencies().begin(), graph_.dependencies().end());
    for (const auto& [earlier, later] : all) {
      const std::optional<TaskId> before = beside_[sim::index(earlier)], after = beside_[sim::index(later)];
      if (after) graph_.after(*after, earlier);
      if (before) graph_.after(later, *before);
      if (before && after) graph_.after(*after, *before);
    }
  }

  /// What ran is told of the program's tasks.
  void join(sim::Timeline& timeline) const {
    for (std::uint32_t t = 0; t < beside_.size(); ++t)
      if (beside_[t]) timeline.finish[t] = std::max(timeline.finish[t], timeline.finish[sim::index(*beside_[t])]);
    timeline.start.resize(tasks_);
    timeline.finish.resize(tasks_);
  }

 private:
  struct Flow {
    sim::RouteId over{};
    Bytes bytes{};
  };
  sim::TaskGraph& graph_;
  const std::size_t tasks_;
  std::vector<std::optional<Flow>> flows_;     // by the program's RouteId
  std::vector<std::optional<TaskId>> beside_;  // by the program's TaskId
};

/// Every link that communications share has carried what they handed to it. `first`: of the links' resources.
void check_links(const Program& program, const Flows& flows, const sim::Timeline& timeline, std::uint32_t first) {
  const std::vector<double> handed = flows.handed(program.times(0, program.tasks()));
  for (std::size_t shared = 0; shared < handed.size(); ++shared)
    check_received(flows.cluster(), flows.shared_links()[shared], handed[shared], timeline.carried[first + shared]);
}

}  // namespace

sim::Timeline run(const Program& program, const Flows& flows) {
  sim::TaskGraph graph = program.graph();
  const auto first = static_cast<std::uint32_t>(graph.resources().size());
  for (const Bandwidth capacity : flows.shared()) graph.add_resource(capacity);
  OnLinks on_links(graph, program);
  std::vector<sim::TaskGraph::Bound> bound;
  for (std::uint32_t i = 0; i < flows.count(); ++i) {
    const CommunicationId id{i};
    const std::optional<sim::RouteId> route = program.route(id);
    if (!route) continue;
    sim::Route over = flows.route(id, first);
    if (flows.shares(id)) over.weight = flows.weight(id);
    if (graph.routes()[sim::index(*route)].uses.empty()) {
      bound.push_back({*route, over, flows.amount(id)});
      continue;
    }
    if (flows.shares(id)) on_links.add(*route, over, flows.amount(id));
    bound.push_back({*route, {{}, {}, over.limit, 1.0}, {flows.alone(id).value}});
  }
  on_links.add_tasks();
  graph.bind(bound);
  sim::Timeline timeline = sim::run(graph);
  on_links.join(timeline);
  check_links(program, flows, timeline, first);
  return timeline;
}

}  // namespace stepcast::workload
