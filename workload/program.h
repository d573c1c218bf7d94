#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/task_graph.h"
#include "workload/communication.h"

namespace stepcast::workload {

/// A GPU's compute, or a server's memory: what uses it at the same time shares it.
enum class EngineId : std::uint32_t {};

/// What ranks do, whoever asked for it and whatever machine they are on: kernels and communications on streams, and
/// what each comes after. A stream runs its tasks one at a time in the order they were added; a communication stands on
/// a stream of every rank that takes part. Ranks that do the same at the same time may stand in it as one. Pure data:
/// workload/run.h runs it on a machine.
class Program {
 public:
  /// `ranks`: whose stream it is, where that is to be remembered.
  sim::StreamId add_stream(collectives::Group ranks = {});
  EngineId add_engine();

  /// From here on each task's ranks are remembered. Whoever writes a program down rank by rank wants them.
  void remember_ranks() { stream_of_tasks_.emplace(); }
  /// Those of the first stream that a task stands on. Empty: it stands on none, or nobody knows.
  std::span<const topology::GpuId> ranks(sim::TaskId task) const;

  /// Kernels that take so long; nothing slows them.
  sim::TaskId kernels(sim::StreamId stream, Time duration) {
    return on(std::span(&stream, 1), graph_.work(stream, duration));
  }
  /// The same on an engine: they take so long where nothing else uses it.
  sim::TaskId kernels(std::span<const sim::StreamId> streams, EngineId engine, Time duration);
  sim::TaskId kernels(sim::StreamId stream, EngineId engine, Time duration) {
    return kernels(std::span(&stream, 1), engine, duration);
  }
  /// Kernels take so much longer. Requires a task on no engine.
  void prolong(sim::TaskId kernels, Time more) { graph_.prolong(kernels, more); }
  /// So long after all that it comes after has ended, on no stream.
  sim::TaskId delay(Time duration) { return graph_.work(std::span<const sim::StreamId>{}, duration); }
  /// A moment at which all that it comes after has ended.
  sim::TaskId moment() { return delay({}); }

  /// For as long as it takes alone, each of `engines` loses the share slowdown / (1 + slowdown): the same ones whenever
  /// it does.
  sim::TaskId communicate(std::span<const sim::StreamId> streams, CommunicationId communication,
                          std::span<const EngineId> engines = {}, double slowdown = 0);
  sim::TaskId communicate(sim::StreamId stream, CommunicationId communication) {
    return communicate(std::span(&stream, 1), communication);
  }

  /// Kernels and, beside them, communications one behind the other; what follows waits for both.
  struct Stint {
    Time kernels{};
    std::vector<CommunicationId> communications{};
  };
  /// Stints one after the other, for which nobody else waits but for the last, as one task to be. The same as tasks of
  /// their own; those whose communications meet no other cost next to nothing.
  sim::SequenceId add_sequence(std::span<const Stint> stints);
  sim::TaskId sequence(sim::StreamId stream, sim::SequenceId sequence) {
    return on(std::span(&stream, 1), graph_.sequence(std::span(&stream, 1), sequence));
  }
  bool has_sequences() const { return !graph_.sequences().empty(); }

  /// `later` starts no earlier than `earlier` has ended. Either may have been added first.
  void after(sim::TaskId later, sim::TaskId earlier) { graph_.after(later, earlier); }

  void reserve(std::size_t tasks, std::size_t dependencies) { graph_.reserve(tasks, dependencies); }

  std::size_t tasks() const { return graph_.tasks().size(); }
  /// Nothing: kernels.
  std::optional<CommunicationId> communication(sim::TaskId task) const;
  std::size_t engines() const { return of_engines_.size(); }
  /// That kernels are on.
  std::optional<EngineId> engine(sim::TaskId kernels) const;
  /// What a communication takes from engines.
  struct Slowdown {
    std::vector<EngineId> engines;
    double slowdown = 0;
  };
  Slowdown slowdown(CommunicationId communication) const;
  /// How often each communication runs among the tasks from `first` on, before `end`: by CommunicationId, up to the
  /// last that the program has.
  std::vector<std::uint32_t> times(std::size_t first, std::size_t end) const;
  /// Whether two tasks are kernels that take equally long on the same engine, or none, or the same communication.
  bool alike(sim::TaskId a, sim::TaskId b) const;

  /// The tasks in their order. What stands for a communication moves nothing there yet, over a route that uses engines
  /// alone.
  const sim::TaskGraph& graph() const { return graph_; }
  /// The route that stands for a communication. Nothing: no task of the program is that.
  std::optional<sim::RouteId> route(CommunicationId communication) const;

 private:
  /// The route that stands for it; `over`: what it is if it is the first to ask, the engines.
  sim::RouteId route_of(CommunicationId communication, const sim::Route& over);

  /// The task, which stands on these streams.
  sim::TaskId on(std::span<const sim::StreamId> streams, sim::TaskId task);

  static constexpr std::uint32_t kNoStream = 0xffffffffu;
  sim::TaskGraph graph_;
  std::vector<collectives::Group> ranks_of_streams_;
  std::optional<std::vector<std::uint32_t>> stream_of_tasks_;  ///< the first one; shorter where the last have none
  std::vector<std::optional<sim::RouteId>> of_communications_;
  std::vector<sim::RouteId> of_engines_;
  std::vector<std::vector<CommunicationId>> of_sequences_;  ///< all that one does, as often as it does
};

}  // namespace stepcast::workload
