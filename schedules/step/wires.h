#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "collectives/timer.h"
#include "schedules/step/stragglers.h"
#include "sim/task_graph.h"
#include "topology/cluster.h"

namespace stepcast::schedules {

/// A collective of one step, declared once however often it runs.
enum class WireId : std::uint32_t {};

/// Turns timed collectives into flows that share links. Alone, a collective takes exactly the time it was timed at;
/// where two different ones load one link at once, they share it in proportion. Links that bind the same collectives to
/// the same extent are one constraint, and a link that only one collective uses is none, so the graph stays small.
class Wires {
 public:
  explicit Wires(const topology::Cluster& cluster, const SlowLinks* slow = nullptr) : cluster_(cluster), slow_(slow) {}

  /// All must be declared before the first route is made. `more_latency`: fixed time in front, in which it uses nothing
  /// (a gather at the receiver, say).
  WireId declare(const collectives::Timing& timing, Time more_latency = {});

  /// The route of a declared collective. While it runs, each of `engines` (a GPU's compute, capacity
  /// kPicosecondsPerSecond) loses the share slowdown / (1 + slowdown).
  sim::RouteId route(sim::TaskGraph& graph, WireId wire, std::span<const sim::ResourceId> engines, double slowdown);

  /// What to give TaskGraph::transfer as bytes: picoseconds of flow at full speed.
  Bytes amount(WireId wire) const { return {wires_[static_cast<std::size_t>(wire)].flow.value}; }
  std::size_t count() const { return wires_.size(); }  ///< wires are numbered from 0 in the order declared

  const std::vector<collectives::Timing::Load>& loads(WireId wire) const {
    return wires_[static_cast<std::size_t>(wire)].loads;
  }

 private:
  struct Wire {
    Time latency{}, flow{};
    std::vector<collectives::Timing::Load> loads;
    std::vector<sim::Use> uses;
  };
  void share_links(sim::TaskGraph& graph);

  const topology::Cluster& cluster_;
  const SlowLinks* slow_;
  std::vector<Wire> wires_;
  bool shared_ = false;
};

}  // namespace stepcast::schedules
