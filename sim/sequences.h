#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/event_queue.h"
#include "sim/flow_network.h"
#include "sim/task_graph.h"

namespace stepcast::sim {

/// Runs a graph's sequences: tasks that are legs one after the other (see TaskGraph::sequence()).
///
/// A sequence whose transfers meet nobody takes what its legs take alone, and is one event. It sleeps, as long as no
/// flow is on a resource that one of its transfers crosses, and no other sequence that does sleeps. When a flow begins
/// there, the sequence wakes: it is where its legs' times say, since nobody has slowed it, and goes on leg by leg. At
/// each leg that begins it sleeps again if it can. So the answer is that of the legs as tasks of their own, and costs
/// what the meeting takes.
///
/// Who calls: the event loop that runs the graph, which hands it the events of its kinds, and the flows that bear a
/// number from first_flow() on.
class Sequences {
 public:
  enum SequenceEvent : std::uint32_t {  // subject: which of the running sequences
    kSleepEnds = 0x100,
    kWorkOfLegEnds,
    kLatencyOfTransferEnds,
  };

  /// Over this graph's sequences, for an event loop with this queue and network, which must stay.
  Sequences(const TaskGraph& graph, EventQueue& queue, FlowNetwork& network);

  bool any() const { return !kinds_.empty(); }
  /// Flows of sequences are named by numbers from here on: one for each of those that run.
  std::uint32_t first_flow() const { return static_cast<std::uint32_t>(graph_.tasks().size()); }

  /// A task that is a sequence begins now. Returns whether it has ended at once.
  bool begin(std::uint32_t task);
  /// An event of its kinds, or the end of a flow of its numbers. Returns the task that has ended, if one has.
  std::optional<std::uint32_t> handle(Event event);
  std::optional<std::uint32_t> flow_ended(std::uint32_t flow);

  /// Some other flow is about to start on this route, and has ended on it. Not for sequences' own.
  void starts_on(RouteId route);
  void ended_on(RouteId route) { count(route, -1); }

 private:
  static constexpr std::uint32_t kNone = 0xffffffffu;
  static constexpr Time kNever{-1};

  /// What a sequence is known by before it runs.
  struct Kind {
    std::vector<Time> begins;              ///< of each leg, and the end of the last, since the first begins; alone
    std::vector<Time> alone;               ///< what each transfer takes, one leg's behind the other's
    std::vector<std::uint32_t> first;      ///< of each leg, in `alone`
    std::vector<std::uint32_t> resources;  ///< that its transfers cross, each once
  };
  struct Running {
    std::uint32_t task = 0, kind = 0;
    std::uint32_t leg = 0;       ///< that it is in, unless it sleeps: then where it fell asleep
    std::uint32_t transfer = 0;  ///< of the leg, that moves or comes next
    Time since{};                ///< when that leg began
    Time until = kNever;         ///< when its sleep ends; kNever: it is awake
    bool works = false, moves = false;
  };

  const std::vector<Leg>& legs(const Running& running) const { return graph_.sequences()[running.kind]; }
  /// What each transfer of the leg takes that it is in.
  std::span<const Time> transfers_alone(const Running& running) const {
    const Kind& kind = kinds_[running.kind];
    return {kind.alone.data() + kind.first[running.leg], legs(running)[running.leg].transfers.size()};
  }
  /// Which moves or comes next.
  const RoutedBytes& transfer(const Running& running) const {
    return legs(running)[running.leg].transfers[running.transfer];
  }
  bool quiet(const Kind& kind) const;
  void count(RouteId route, std::int32_t more);
  bool begin_leg(std::uint32_t at);
  std::optional<std::uint32_t> go_on(std::uint32_t at);
  std::optional<std::uint32_t> transfer_ended(std::uint32_t at);
  std::uint32_t leave(std::uint32_t at);
  void sleep(std::uint32_t at);
  void end_sleep(std::uint32_t at);
  void wake(std::uint32_t at);
  void next_transfer(std::uint32_t at, Time moved);
  void start_flow(std::uint32_t at, Time moved);

  const TaskGraph& graph_;
  EventQueue& queue_;
  FlowNetwork& network_;
  std::vector<Kind> kinds_;  ///< as the graph's sequences
  std::vector<Running> running_;
  std::vector<std::uint32_t> free_;       ///< of running_
  std::vector<std::uint32_t> flows_on_;   ///< by resource
  std::vector<std::uint32_t> asleep_on_;  ///< by resource: which of running_
};

}  // namespace stepcast::sim
