#include "workload/program.h"

#include <utility>

namespace stepcast::workload {

using sim::TaskId;

sim::StreamId Program::add_stream(collectives::Group ranks) {
  ranks_of_streams_.push_back(std::move(ranks));
  return graph_.add_stream();
}

TaskId Program::on(std::span<const sim::StreamId> streams, TaskId task) {
  if (stream_of_tasks_ && !streams.empty()) {
    stream_of_tasks_->resize(sim::index(task), kNoStream);
    stream_of_tasks_->push_back(static_cast<std::uint32_t>(streams.front()));
  }
  return task;
}

std::span<const topology::GpuId> Program::ranks(TaskId task) const {
  if (!stream_of_tasks_ || sim::index(task) >= stream_of_tasks_->size()) return {};
  const std::uint32_t stream = (*stream_of_tasks_)[sim::index(task)];
  if (stream == kNoStream) return {};
  return ranks_of_streams_[stream];
}

EngineId Program::add_engine() {
  const sim::ResourceId engine = graph_.add_resource({kPicosecondsPerSecond});
  of_engines_.push_back(graph_.add_route({{{engine, 1.0}}, {}, {kPicosecondsPerSecond}, 1.0}));
  return EngineId{static_cast<std::uint32_t>(of_engines_.size() - 1)};
}

TaskId Program::kernels(std::span<const sim::StreamId> streams, EngineId engine, Time duration) {
  return on(streams, graph_.transfer(streams, of_engines_[static_cast<std::size_t>(engine)], {duration.value}));
}

sim::RouteId Program::route_of(CommunicationId communication, const sim::Route& over) {
  if (index(communication) >= of_communications_.size()) of_communications_.resize(index(communication) + 1);
  std::optional<sim::RouteId>& route = of_communications_[index(communication)];
  if (!route) route = graph_.add_route(over);
  return *route;
}

TaskId Program::communicate(std::span<const sim::StreamId> streams, CommunicationId communication,
                            std::span<const EngineId> engines, double slowdown) {
  sim::Route over;
  if (slowdown > 0 && !route(communication))
    for (const EngineId engine : engines) {
      const sim::RouteId alone = of_engines_[static_cast<std::size_t>(engine)];
      over.uses.push_back({graph_.routes()[sim::index(alone)].uses.front().resource, slowdown});
    }
  return on(streams, graph_.transfer(streams, route_of(communication, over), {}, index(communication) + 1));
}

sim::SequenceId Program::add_sequence(std::span<const Stint> stints) {
  std::vector<sim::Leg> legs;
  std::vector<CommunicationId>& all = of_sequences_.emplace_back();
  for (const Stint& stint : stints) {
    sim::Leg& leg = legs.emplace_back(sim::Leg{stint.kernels});
    for (const CommunicationId communication : stint.communications) {
      leg.transfers.push_back({route_of(communication, {}), {}});
      all.push_back(communication);
    }
  }
  return graph_.add_sequence(std::move(legs));
}

std::optional<EngineId> Program::engine(TaskId kernels) const {
  const sim::TaskGraph::Task& task = graph_.tasks()[sim::index(kernels)];
  if (task.tag > 0 || task.route == sim::TaskGraph::kNoRoute) return std::nullopt;
  return EngineId{sim::index(graph_.routes().uses(sim::index(task.route)).front().resource)};
}

Program::Slowdown Program::slowdown(CommunicationId communication) const {
  Slowdown out;
  if (const std::optional<sim::RouteId> over = route(communication))
    for (const sim::Use& use : graph_.routes().uses(sim::index(*over))) {
      out.engines.push_back(EngineId{sim::index(use.resource)});  // a program has no other resources
      out.slowdown = use.load;
    }
  return out;
}

std::optional<CommunicationId> Program::communication(TaskId task) const {
  const std::uint32_t tag = graph_.tasks()[sim::index(task)].tag;
  return tag > 0 ? std::optional(CommunicationId{tag - 1}) : std::nullopt;
}

std::vector<std::uint32_t> Program::times(std::size_t first, std::size_t end) const {
  std::vector<std::uint32_t> times(of_communications_.size(), 0);
  std::vector<std::uint32_t> of_sequences(of_sequences_.size(), 0);
  for (std::size_t t = first; t < end; ++t) {
    const sim::TaskGraph::Task& task = graph_.tasks()[t];
    if (task.route == sim::TaskGraph::kLegs)
      ++of_sequences[static_cast<std::size_t>(task.amount)];
    else if (task.tag > 0)
      ++times[task.tag - 1];
  }
  for (std::size_t s = 0; s < of_sequences.size(); ++s)
    for (const CommunicationId id : of_sequences_[s]) times[index(id)] += of_sequences[s];
  return times;
}

bool Program::alike(TaskId a, TaskId b) const {
  const sim::TaskGraph::Task &first = graph_.tasks()[sim::index(a)], &second = graph_.tasks()[sim::index(b)];
  return first.amount == second.amount && first.route == second.route;
}

std::optional<sim::RouteId> Program::route(CommunicationId communication) const {
  return index(communication) < of_communications_.size() ? of_communications_[index(communication)] : std::nullopt;
}

}  // namespace stepcast::workload
