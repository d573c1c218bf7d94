#include "sim/sequences.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace stepcast::sim {

Sequences::Sequences(const TaskGraph& graph, EventQueue& queue, FlowNetwork& network)
    : graph_(graph), queue_(queue), network_(network) {
  if (graph.sequences().empty()) return;
  flows_on_.resize(graph.resources().size(), 0);
  asleep_on_.resize(graph.resources().size(), kNone);
  std::vector<std::uint32_t> seen(graph.resources().size(), kNone);
  for (const std::vector<Leg>& legs : graph.sequences()) {
    const auto number = static_cast<std::uint32_t>(kinds_.size());
    Kind& kind = kinds_.emplace_back();
    kind.begins.reserve(legs.size() + 1);
    kind.begins.push_back({});
    kind.first.reserve(legs.size());
    for (const Leg& leg : legs) {
      Time moving{};
      kind.first.push_back(static_cast<std::uint32_t>(kind.alone.size()));
      for (const auto& [route, bytes] : leg.transfers) {
        kind.alone.push_back(graph.routes().latency(index(route)) + network.time_alone(route, bytes));
        moving += kind.alone.back();
        for (const Use& use : graph.routes()[index(route)].uses)
          if (std::exchange(seen[index(use.resource)], number) != number) kind.resources.push_back(index(use.resource));
      }
      kind.begins.push_back(kind.begins.back() + std::max(leg.work, moving));
    }
  }
}

/// Whether nobody is on what its transfers cross.
bool Sequences::quiet(const Kind& kind) const {
  return std::ranges::all_of(kind.resources,
                             [&](std::uint32_t r) { return flows_on_[r] == 0 && asleep_on_[r] == kNone; });
}

void Sequences::count(RouteId route, std::int32_t more) {
  for (const Use& use : graph_.routes()[index(route)].uses)
    flows_on_[index(use.resource)] += static_cast<std::uint32_t>(more);
}

void Sequences::starts_on(RouteId route) {
  for (const Use& use : graph_.routes()[index(route)].uses)
    if (const std::uint32_t sleeper = asleep_on_[index(use.resource)]; sleeper != kNone) wake(sleeper);
  count(route, 1);
}

bool Sequences::begin(std::uint32_t task) {
  std::uint32_t at = static_cast<std::uint32_t>(running_.size());
  if (free_.empty()) {
    running_.emplace_back();
  } else {
    at = free_.back();
    free_.pop_back();
  }
  running_[at] = {.task = task, .kind = static_cast<std::uint32_t>(graph_.tasks()[task].amount)};
  if (!begin_leg(at)) return false;
  leave(at);
  return true;
}

/// The leg it is at begins, and those behind it that take no time. Returns whether the sequence has ended.
bool Sequences::begin_leg(std::uint32_t at) {
  for (;;) {
    Running& running = running_[at];
    running.since = queue_.now();
    const Kind& kind = kinds_[running.kind];
    if (kind.begins.back() == kind.begins[running.leg]) return true;
    if (quiet(kind)) {
      sleep(at);
      return false;
    }
    const Time work = legs(running)[running.leg].work;
    running.works = work > Time{};
    if (running.works) queue_.schedule(queue_.now() + work, {kWorkOfLegEnds, at});
    running.transfer = 0;
    next_transfer(at, {});
    if (running.works || running.moves) return false;
    ++running.leg;
  }
}

void Sequences::sleep(std::uint32_t at) {
  Running& running = running_[at];
  const Kind& kind = kinds_[running.kind];
  running.until = queue_.now() + (kind.begins.back() - kind.begins[running.leg]);
  for (const std::uint32_t r : kind.resources) asleep_on_[r] = at;
  queue_.schedule(running.until, {kSleepEnds, at});
}

void Sequences::end_sleep(std::uint32_t at) {
  running_[at].until = kNever;
  for (const std::uint32_t r : kinds_[running_[at].kind].resources)
    if (asleep_on_[r] == at) asleep_on_[r] = kNone;
}

/// Somebody comes: the sequence goes on from where it is by now.
void Sequences::wake(std::uint32_t at) {
  Running& running = running_[at];
  end_sleep(at);
  const Kind& kind = kinds_[running.kind];
  const Time gone = kind.begins[running.leg] + (queue_.now() - running.since);  // of the whole sequence, alone
  if (gone == kind.begins.back()) {  // it ends now, as the event of its sleep's end will say
    running.until = queue_.now();
    return;
  }
  running.leg = static_cast<std::uint32_t>(std::ranges::upper_bound(kind.begins, gone) - kind.begins.begin() - 1);
  Time in_leg = gone - kind.begins[running.leg];
  running.since = queue_.now() - in_leg;
  const Time work = legs(running)[running.leg].work;
  running.works = work > in_leg;
  if (running.works) queue_.schedule(running.since + work, {kWorkOfLegEnds, at});
  const std::span<const Time> alone = transfers_alone(running);
  running.transfer = 0;
  for (; running.transfer < alone.size() && in_leg >= alone[running.transfer]; ++running.transfer)
    in_leg -= alone[running.transfer];
  next_transfer(at, in_leg);
}

/// The leg's next transfer begins, or has been under way for so long; none that takes no time is waited for.
void Sequences::next_transfer(std::uint32_t at, Time gone) {
  Running& running = running_[at];
  const std::span<const Time> alone = transfers_alone(running);
  while (running.transfer < alone.size() && alone[running.transfer] == Time{}) ++running.transfer;
  running.moves = running.transfer < alone.size();
  if (!running.moves) return;
  const Time latency = graph_.routes().latency(index(transfer(running).route));
  if (gone < latency)
    queue_.schedule(queue_.now() + (latency - gone), {kLatencyOfTransferEnds, at});
  else
    start_flow(at, gone - latency);
}

/// The latency is over. `gone`: so long ago, and it has moved alone since.
void Sequences::start_flow(std::uint32_t at, Time gone) {
  const auto& [route, bytes] = transfer(running_[at]);
  starts_on(route);
  network_.start(first_flow() + at, route, bytes, gone);
}

/// Part of its leg has ended. Returns the task if the sequence has.
std::optional<std::uint32_t> Sequences::go_on(std::uint32_t at) {
  Running& running = running_[at];
  if (running.works || running.moves) return std::nullopt;
  ++running.leg;
  return begin_leg(at) ? std::optional(leave(at)) : std::nullopt;
}

/// The sequence has ended. Returns its task.
std::uint32_t Sequences::leave(std::uint32_t at) {
  free_.push_back(at);
  return running_[at].task;
}

std::optional<std::uint32_t> Sequences::handle(Event event) {
  const std::uint32_t at = event.subject;
  Running& running = running_[at];
  switch (event.kind) {
    case kSleepEnds:
      if (running.until != queue_.now()) return std::nullopt;  // it has woken since
      end_sleep(at);
      return leave(at);
    case kWorkOfLegEnds:
      running.works = false;
      return go_on(at);
    case kLatencyOfTransferEnds: {
      const auto& [route, bytes] = transfer(running);
      if (network_.time_alone(route, bytes) == Time{}) return transfer_ended(at);
      start_flow(at, {});
      return std::nullopt;
    }
    default:
      throw std::logic_error("an event of no kind");
  }
}

std::optional<std::uint32_t> Sequences::flow_ended(std::uint32_t flow) {
  const std::uint32_t at = flow - first_flow();
  ended_on(transfer(running_[at]).route);
  return transfer_ended(at);
}

std::optional<std::uint32_t> Sequences::transfer_ended(std::uint32_t at) {
  ++running_[at].transfer;
  next_transfer(at, {});
  return go_on(at);
}

}  // namespace stepcast::sim
