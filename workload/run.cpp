#include "workload/run.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "workload/received.h"

namespace stepcast::workload {
namespace {

using sim::TaskId;

/// Flows of communications that are tasks of their own, one behind the other: those behind the first one, which is the
/// program's task; or, where the communication uses engines for as long as it takes alone, all of them beside that.
class MoreFlows {
 public:
  MoreFlows(sim::TaskGraph& graph, const Program& program) : graph_(graph), tasks_(program.tasks()) {}

  struct Flow {
    sim::RouteId over{};
    Bytes bytes{};
  };
  /// Of all transfers over the program's route.
  void add(sim::RouteId route, bool beside, std::vector<Flow> flows) {
    more_.resize(std::max(more_.size(), sim::index(route) + std::size_t{1}));
    more_[sim::index(route)] = {beside, std::move(flows)};
  }

  /// Once all are known.
  void add_tasks() {
    if (more_.empty()) return;
    if (!graph_.sequences().empty()) {
      std::vector<std::vector<sim::RoutedBytes>> behind(more_.size());
      for (std::size_t route = 0; route < more_.size(); ++route)
        for (const Flow& flow : more_[route].flows) behind[route].push_back({flow.over, flow.bytes});
      graph_.follow(behind);
    }
    beside_.resize(tasks_);
    last_.resize(tasks_);
    const std::vector<sim::TaskGraph::Dependency> all(graph_.dependencies().begin(), graph_.dependencies().end());
    for (std::uint32_t t = 0; t < tasks_; ++t) {
      const std::size_t route = sim::index(graph_.tasks()[t].route);
      if (route >= more_.size()) continue;
      std::optional<TaskId> before;
      if (!more_[route].beside) before = TaskId{t};
      for (const Flow& flow : more_[route].flows) {
        const TaskId task = graph_.transfer(flow.over, flow.bytes);
        if (before) graph_.after(task, *before);
        if (!before) beside_[t] = task;
        before = last_[t] = task;
      }
    }
    for (const auto& [earlier, later] : all) {
      const std::optional<TaskId> before = last_[sim::index(earlier)], after = beside_[sim::index(later)];
      if (after) graph_.after(*after, earlier);
      if (before) graph_.after(later, *before);
      if (before && after) graph_.after(*after, *before);
    }
  }

  /// What ran is told of the program's tasks.
  void join(sim::Timeline& timeline) const {
    for (std::uint32_t t = 0; t < last_.size(); ++t)
      if (last_[t]) timeline.finish[t] = std::max(timeline.finish[t], timeline.finish[sim::index(*last_[t])]);
    timeline.start.resize(tasks_);
    timeline.finish.resize(tasks_);
  }

 private:
  struct OfRoute {
    bool beside = false;
    std::vector<Flow> flows;
  };
  sim::TaskGraph& graph_;
  const std::size_t tasks_;
  std::vector<OfRoute> more_;                         // by the program's RouteId
  std::vector<std::optional<TaskId>> beside_, last_;  // by the program's TaskId: the first one beside it, and the last
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
  MoreFlows more(graph, program);
  std::vector<sim::TaskGraph::Bound> bound;
  for (std::uint32_t i = 0; i < flows.count(); ++i) {
    const CommunicationId id{i};
    const std::optional<sim::RouteId> route = program.route(id);
    if (!route) continue;
    const bool engines = !graph.routes()[sim::index(*route)].uses.empty(), shares = flows.shares(id);
    std::vector<MoreFlows::Flow> behind;
    for (std::size_t flow = engines ? 0 : 1; shares && flow < flows.flows(id); ++flow)
      behind.push_back({graph.add_route(flows.route(id, flow, first)), flows.amount(id, flow)});
    if (!behind.empty()) more.add(*route, engines, std::move(behind));
    if (shares && !engines)
      bound.push_back({*route, flows.route(id, 0, first), flows.amount(id, 0)});
    else
      bound.push_back({*route, {{}, {}, {kPicosecondsPerSecond}, 1.0}, {flows.alone(id).value}});
  }
  more.add_tasks();
  graph.bind(bound);
  sim::Timeline timeline = sim::run(graph);
  more.join(timeline);
  check_links(program, flows, timeline, first);
  return timeline;
}

}  // namespace stepcast::workload
