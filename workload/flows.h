#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "collectives/timing/timing.h"
#include "sim/task_graph.h"
#include "workload/communication.h"
#include "workload/machine.h"

namespace stepcast::workload {

/// Communications on a machine, each timed alone and turned into a flow, or one for each of the collectives that come
/// one after the other in it. Alone it takes exactly the time it was timed
/// at; where two different ones load one link at once, their connections share it evenly. Links that bind the same
/// communications to the same extent are one constraint, and a link that only one of them uses is none, so that what is
/// to be simulated stays small. The communications of several programs that are to meet stand in one list here.
class Flows {
 public:
  struct Conditions {
    /// Every group stands in a program by itself: its links carry what it sends, not what its siblings do as well.
    bool unfolded = false;
    /// Siblings do not begin at the same moment: some of their ranks are late.
    bool late = false;
    /// Where siblings take unlike times, all take that of the first to end, not of the last.
    bool first_siblings = false;
  };
  Flows(const Machine& machine, std::span<const Communication> communications, const Conditions& conditions);

  /// Its time alone.
  Time alone(CommunicationId id) const;
  /// Its flows, of which each begins when the one before has ended: one for each burst of each of its collectives.
  std::size_t flows(CommunicationId id) const;
  /// Calls `see` with what each of them sends over each link.
  template <class See>
  void each_load(CommunicationId id, const See& see) const {
    for (const Moves& moves : moves_[index(id)])
      for (const collectives::Timing::Load& load : kinds_[moves.kind].loads) see(load);
  }

  /// Of the links that communications share: these become resources of a graph, numbered from `first` on.
  std::span<const Bandwidth> shared() const { return shared_; }
  /// A link of each of them, and what communications that run so many `times` hand to it: `times` by CommunicationId,
  /// none for the last ones that it does not name.
  std::span<const topology::LinkId> shared_links() const { return shared_links_; }
  std::vector<double> handed(std::span<const std::uint32_t> times) const;
  const topology::Cluster& cluster() const { return *cluster_; }
  /// One of its flows over them. It moves amount() at most at one unit a picosecond; beside others it weighs what its
  /// connections do, which share a link evenly.
  sim::Route route(CommunicationId id, std::size_t flow, std::uint32_t first) const;
  Bytes amount(CommunicationId id, std::size_t flow) const { return {burst(id, flow).moves.value}; }
  std::size_t count() const { return moves_.size(); }
  /// Whether all groups that run at the same time take the same time, whatever they meet.
  bool alike() const { return alike_; }
  /// Whether groups that take unlike times take what they take together here, though they do not stay together: each of
  /// them is done sooner in truth where it does not meet the others.
  bool drift() const { return drift_; }
  /// Whether one simulated rank may stand for those of other nodes: where flows together could fill a link inside a
  /// node, each loads that link alike on all nodes that it crosses. A ring's do; a tree's do not, whose inner nodes
  /// send more.
  bool nodes_alike() const;
  /// Whether it crosses a link that others, which may run at the same time, could fill together with it.
  bool shares(CommunicationId id) const;

 private:
  /// Communications of one duration that load the same links alike: the buckets of a stage, say.
  struct Kind {
    Time time{};
    std::vector<collectives::Timing::Load> loads;
    std::vector<std::int64_t> turns{};  ///< of communications of this kind, each once
    std::vector<sim::Use> uses{};       ///< resources are numbered as shared_ is
    double most = 0;                    ///< of a shared link, what it occupies of it alone
    double connections = 1;             ///< there, per byte and picosecond that it moves alone
  };
  /// What a collective does.
  struct Moves {
    Time latency{};  ///< in front, in which it uses nothing
    Time pause{};    ///< between one burst and the next
    std::uint32_t bursts = 1;
    std::size_t kind = 0;
    Time waits() const { return latency + pause * (std::int64_t{bursts} - 1); }
  };
  struct Burst {
    Time waits{}, moves{};
    std::size_t kind = 0;
  };
  Burst burst(CommunicationId id, std::size_t flow) const;
  std::size_t kind_of(const collectives::Timing& timing);
  /// Calls `see` with each place of a link in a node and what the kind occupies of it, node by node.
  template <class See>
  void each_place(const Kind& kind, const See& see) const;
  void share_links(const topology::Cluster& cluster);

  const topology::Cluster* cluster_;       ///< the machine's
  std::vector<std::vector<Moves>> moves_;  ///< by CommunicationId
  std::vector<Kind> kinds_;
  std::unordered_multimap<std::size_t, std::size_t> by_hash_;  ///< kinds
  std::vector<Bandwidth> shared_;
  std::vector<topology::LinkId> shared_links_;
  bool alike_ = true, drift_ = false;
};

}  // namespace stepcast::workload
