#include "sim/task_graph.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace stepcast::sim {
namespace {

std::uint32_t next_id(std::size_t size, const char* what) {
  if (size >= 0xffffffffu) throw std::length_error(what);
  return static_cast<std::uint32_t>(size);
}

bool positive(double x) { return x > 0; }  // false for nan

}  // namespace

StreamId TaskGraph::add_stream() {
  const std::uint32_t id = next_id(last_on_stream_.size(), "more than 2^32 streams");
  last_on_stream_.push_back(kNone);
  return StreamId{id};
}

ResourceId TaskGraph::add_resource(Bandwidth capacity) {
  if (!positive(capacity.value) || !std::isfinite(capacity.value)) {
    throw std::logic_error("a resource's capacity must be positive and finite");
  }
  const std::uint32_t id = next_id(resources_.size(), "more than 2^32 resources");
  resources_.push_back(capacity);
  return ResourceId{id};
}

void TaskGraph::check(const Route& route) const {
  for (const Use& use : route.uses) {
    if (index(use.resource) >= resources_.size()) throw std::logic_error("a route over an unknown resource");
    if (!positive(use.load) || !std::isfinite(use.load)) throw std::logic_error("a route's load must be positive");
  }
  if (!positive(route.limit.value)) throw std::logic_error("a route's limit must be positive");
  if (!positive(route.weight) || !std::isfinite(route.weight)) {
    throw std::logic_error("a route's weight must be positive");
  }
  if (route.latency < Time{}) throw std::logic_error("a route's latency must not be negative");
}

void TaskGraph::store(const Route& route) {
  uses_.clear();
  place_.resize(resources_.size(), kNone);
  for (const Use& use : route.uses) {
    std::uint32_t& place = place_[index(use.resource)];
    if (place == kNone) {
      place = static_cast<std::uint32_t>(uses_.size());
      uses_.push_back(use);
    } else {
      uses_[place].load += use.load;
    }
  }
  for (const Use& use : uses_) place_[index(use.resource)] = kNone;
  routes_.add(uses_, {route.latency, route.limit, route.weight});
}

void TaskGraph::set_routes(Routes routes) {
  if (!routes_.empty()) throw std::logic_error("a graph that has routes already");
  const auto known = [&](const Use& use) { return index(use.resource) < resources_.size(); };
  if (!std::ranges::all_of(routes.all_uses(), known)) throw std::logic_error("a route over an unknown resource");
  routes_ = std::move(routes);
}

RouteId TaskGraph::add_route(const Route& route) {
  check(route);
  const std::uint32_t id = next_id(routes_.size(), "more than 2^32 routes");
  store(route);
  return RouteId{id};
}

TaskId TaskGraph::work(std::span<const StreamId> streams, Time duration, std::uint32_t tag) {
  if (duration < Time{}) throw std::logic_error("work of negative duration");
  return add(streams, {duration.value, kNoRoute, tag});
}

TaskId TaskGraph::transfer(std::span<const StreamId> streams, RouteId route, Bytes bytes, std::uint32_t tag) {
  if (index(route) >= routes_.size()) throw std::logic_error("a transfer over an unknown route");
  if (bytes < Bytes{}) throw std::logic_error("a transfer of negative bytes");
  return add(streams, {bytes.value, route, tag});
}

SequenceId TaskGraph::add_sequence(std::vector<Leg> legs) {
  for (const Leg& leg : legs) {
    if (leg.work < Time{}) throw std::logic_error("work of negative duration");
    for (const RoutedBytes& transfer : leg.transfers) {
      if (index(transfer.route) >= routes_.size()) throw std::logic_error("a transfer over an unknown route");
      if (transfer.bytes < Bytes{}) throw std::logic_error("a transfer of negative bytes");
    }
  }
  const std::uint32_t id = next_id(sequences_.size(), "more than 2^32 sequences");
  sequences_.push_back(std::move(legs));
  return SequenceId{id};
}

TaskId TaskGraph::sequence(std::span<const StreamId> streams, SequenceId sequence, std::uint32_t tag) {
  if (static_cast<std::size_t>(sequence) >= sequences_.size()) throw std::logic_error("an unknown sequence");
  return add(streams, {static_cast<std::int64_t>(sequence), kLegs, tag});
}

void TaskGraph::follow(std::span<const std::vector<RoutedBytes>> more) {
  for (std::vector<Leg>& legs : sequences_)
    for (Leg& leg : legs) {
      std::vector<RoutedBytes> all;
      for (const RoutedBytes& transfer : leg.transfers) {
        all.push_back(transfer);
        const std::size_t route = index(transfer.route);
        if (route < more.size()) all.insert(all.end(), more[route].begin(), more[route].end());
      }
      leg.transfers = std::move(all);
    }
}

TaskId TaskGraph::add(std::span<const StreamId> streams, Task task) {
  const std::uint32_t id = next_id(tasks_.size(), "more than 2^32 tasks");
  for (const StreamId stream : streams) {
    if (index(stream) >= last_on_stream_.size()) throw std::logic_error("a task on an unknown stream");
  }
  tasks_.push_back(task);
  for (const StreamId stream : streams) {
    const std::uint32_t last = std::exchange(last_on_stream_[index(stream)], id);
    // A stream named twice is the same stream once: the task does not wait for itself.
    if (last != kNone && last != id) dependencies_.push_back({TaskId{last}, TaskId{id}});
  }
  return TaskId{id};
}

void TaskGraph::prolong(TaskId work, Time more) {
  Task& task = tasks_.at(index(work));
  if (task.route != kNoRoute) throw std::logic_error("only work is prolonged");
  if (more < Time{}) throw std::logic_error("work of negative duration");
  task.amount = (Time{task.amount} + more).value;
}

void TaskGraph::bind(std::span<const Bound> routes) {
  if (routes.empty()) return;
  std::vector<const Bound*> bound(routes_.size(), nullptr);
  for (const Bound& with : routes) {
    check(with.over);
    bound.at(index(with.route)) = &with;
  }
  const Routes before = std::exchange(routes_, {});
  for (std::size_t r = 0; r < before.size(); ++r) {
    Route route = before[r];
    if (bound[r] != nullptr) {
      const Route& over = bound[r]->over;
      route.uses.insert(route.uses.begin(), over.uses.begin(), over.uses.end());
      route.latency = over.latency;
      route.limit = over.limit;
      route.weight = over.weight;
    }
    store(route);
  }
  for (Task& task : tasks_)
    if (task.route != kNoRoute && task.route != kLegs && bound[index(task.route)] != nullptr)
      task.amount = bound[index(task.route)]->bytes.value;
  for (std::vector<Leg>& legs : sequences_)
    for (Leg& leg : legs)
      for (RoutedBytes& transfer : leg.transfers)
        if (index(transfer.route) < bound.size() && bound[index(transfer.route)] != nullptr)
          transfer.bytes = bound[index(transfer.route)]->bytes;
}

void TaskGraph::after(TaskId later, TaskId earlier) { dependencies_.push_back({earlier, later}); }

void TaskGraph::reserve(std::size_t tasks, std::size_t dependencies) {
  tasks_.reserve(tasks);
  dependencies_.reserve(dependencies);
}

}  // namespace stepcast::sim
