#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "collectives/timing/timer.h"
#include "schedules/pass_times/stragglers.h"
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

  /// All must be declared before the first graph is entered. `more_latency`: fixed time in front, in which it uses
  /// nothing (a gather at the receiver, say).
  WireId declare(const collectives::Timing& timing, Time more_latency = {});

  /// The links that collectives share become resources of this graph, for which routes are made from now on.
  void enter(sim::TaskGraph& graph);

  /// The route of a declared collective in the graph that was entered. While it runs, each of `engines` (a GPU's
  /// compute, capacity kPicosecondsPerSecond) loses the share slowdown / (1 + slowdown).
  sim::RouteId route(sim::TaskGraph& graph, WireId wire, std::span<const sim::ResourceId> engines,
                     double slowdown) const;

  /// What to give TaskGraph::transfer as bytes: picoseconds of flow at full speed.
  Bytes amount(WireId wire) const { return {kind(wire).flow.value}; }
  std::size_t count() const { return wires_.size(); }  ///< wires are numbered from 0 in the order declared

  const std::vector<collectives::Timing::Load>& loads(WireId wire) const { return kind(wire).loads; }

 private:
  /// Collectives of one duration that load the same links alike: the buckets of a stage, say.
  struct Kind {
    Time flow{};
    std::vector<collectives::Timing::Load> loads;  ///< in the order declared
    std::vector<std::size_t> wires{};              ///< that are of this kind
  };
  struct Wire {
    Time latency{};
    std::size_t kind = 0;
    std::vector<sim::Use> uses{};  ///< resources are numbered as capacities_ are
  };
  const Kind& kind(WireId wire) const { return kinds_[wires_[static_cast<std::size_t>(wire)].kind]; }
  std::size_t kind_of(const collectives::Timing& timing);
  void share_links();

  const topology::Cluster& cluster_;
  const SlowLinks* slow_;
  std::vector<Wire> wires_;
  std::vector<Kind> kinds_;
  std::multimap<Time, std::size_t> by_duration_;  ///< kinds
  std::vector<Bandwidth> capacities_;             ///< of what is shared
  bool shared_ = false;
  std::uint32_t first_resource_ = 0;  ///< of the graph that was entered: what is shared
};

}  // namespace stepcast::schedules
