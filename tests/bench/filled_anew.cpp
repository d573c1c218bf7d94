#include "tests/bench/filled_anew.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace stepcast::test {
namespace {

struct Flow {
  double start = 0, left = 0, rate = 0;  // seconds, bytes, bytes per second
  sim::RouteId route{};
};

std::vector<Flow> flows_of(const sim::TaskGraph& graph) {
  std::vector<double> ready(graph.tasks().size());
  for (const sim::TaskGraph::Dependency& d : graph.dependencies())
    ready[sim::index(d.later)] = to_seconds(Time{graph.tasks()[sim::index(d.earlier)].amount});
  std::vector<Flow> flows;
  for (std::size_t t = 0; t < ready.size(); ++t) {
    const sim::TaskGraph::Task& task = graph.tasks()[t];
    if (task.route == sim::TaskGraph::kNoRoute) continue;
    const double latency = to_seconds(graph.routes().latency(sim::index(task.route)));
    flows.push_back({ready[t] + latency, static_cast<double>(task.amount), 0, task.route});
  }
  std::ranges::sort(flows, {}, &Flow::start);
  return flows;
}

class Filling {
 public:
  explicit Filling(const sim::TaskGraph& graph) : graph_(graph), resources_(graph.resources().size()) {}

  /// Gives every flow its max-min fair rate.
  void fill(std::vector<Flow>& flows) {
    for (std::size_t r = 0; r < resources_.size(); ++r) {
      resources_[r].left = graph_.resources()[r].value;
      resources_[r].demand = 0;
      resources_[r].flows.clear();
    }
    for (Flow& flow : flows) {
      flow.rate = 0;
      each_use(flow, [&](Resource& resource, double load) {
        resource.demand += load;
        resource.flows.push_back(&flow);
      });
    }
    for (std::size_t unfixed = flows.size(); unfixed > 0;) {
      Resource* fullest = nullptr;
      double lowest = std::numeric_limits<double>::infinity();
      for (Resource& resource : resources_) {
        if (resource.demand <= kNothing || resource.left / resource.demand >= lowest) continue;
        lowest = resource.left / resource.demand;
        fullest = &resource;
      }
      for (Flow* flow : fullest->flows) {
        if (flow->rate > 0) continue;
        flow->rate = lowest;
        --unfixed;
        each_use(*flow, [&](Resource& resource, double load) {
          resource.left -= load * lowest;
          resource.demand -= load;
        });
      }
      fullest->demand = 0;
    }
  }

 private:
  static constexpr double kNothing = 1e-9;  // what rounding leaves of a demand
  struct Resource {
    double left = 0, demand = 0;
    std::vector<Flow*> flows;
  };
  template <class See>
  void each_use(const Flow& flow, See see) {
    for (const sim::Use& use : graph_.routes().uses(sim::index(flow.route)))
      see(resources_[sim::index(use.resource)], use.load);
  }

  const sim::TaskGraph& graph_;
  std::vector<Resource> resources_;
};

}  // namespace

double filled_anew(const sim::TaskGraph& graph) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kLessThanAByte = 1e-3;
  const std::vector<Flow> all = flows_of(graph);
  Filling filling(graph);
  std::vector<Flow> active;
  double now = 0;
  for (auto next = all.begin(); next != all.end() || !active.empty();) {
    double until = next != all.end() ? next->start : kInfinity;
    for (const Flow& flow : active) until = std::min(until, now + flow.left / flow.rate);
    for (Flow& flow : active) flow.left -= flow.rate * (until - now);
    now = until;
    std::erase_if(active, [](const Flow& flow) { return flow.left < kLessThanAByte; });
    for (; next != all.end() && next->start <= now; ++next) active.push_back(*next);
    filling.fill(active);
  }
  return now;
}

}  // namespace stepcast::test
