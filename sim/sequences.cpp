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
    kind.ends.reserve(legs.size());
    Time end{};
    for (const Leg& leg : legs) {
      kind.ends.push_back(end += alone(leg));
      for (const RoutedBytes& transfer : leg.transfers)
        for (const Use& use : graph.routes()[index(transfer.route)].uses)
          if (std::exchange(seen[index(use.resource)], number) != number) kind.resources.push_back(index(use.resource));
    }
  }
}

Time Sequences::alone(const RoutedBytes& transfer) const {
  return graph_.routes().latency(index(transfer.route)) + network_.time_alone(transfer.route, transfer.bytes);
}

Time Sequences::alone(const Leg& leg) const {
  Time moving{};
  for (const RoutedBytes& transfer : leg.transfers) moving += alone(transfer);
  return std::max(leg.work, moving);
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
  return begin_leg(at) && ended(at, true).has_value();
}

/// The leg it is at begins, and those behind it that take no time. Returns whether the sequence has ended.
bool Sequences::begin_leg(std::uint32_t at) {
  for (;;) {
    Running& running = running_[at];
    running.since = queue_.now();
    const std::vector<Leg>& all = legs(running);
    if (running.leg == all.size()) return true;
    const Kind& kind = kinds_[running.kind];
    const Time before = running.leg == 0 ? Time{} : kind.ends[running.leg - 1];
    if (kind.ends.back() == before) return true;
    if (quiet(kind)) {
      sleep(at);
      return false;
    }
    const Leg& leg = all[running.leg];
    running.works = leg.work > Time{};
    if (running.works) queue_.schedule(queue_.now() + leg.work, {kWorkOfLegEnds, at});
    running.transfer = 0;
    next_transfer(at, {});
    if (running_[at].works || running_[at].moves) return false;
    ++running_[at].leg;
  }
}

void Sequences::sleep(std::uint32_t at) {
  Running& running = running_[at];
  const Kind& kind = kinds_[running.kind];
  const Time before = running.leg == 0 ? Time{} : kind.ends[running.leg - 1];
  running.until = queue_.now() + (kind.ends.back() - before);
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
  const Time before = running.leg == 0 ? Time{} : kind.ends[running.leg - 1];
  const Time gone = before + (queue_.now() - running.since);  // of the whole sequence, alone
  const auto leg = std::ranges::upper_bound(kind.ends, gone);
  running.leg = static_cast<std::uint32_t>(leg - kind.ends.begin());
  const std::vector<Leg>& all = legs(running);
  if (running.leg == all.size()) {  // it ends now, as the event of its sleep's end will say
    running.until = queue_.now();
    return;
  }
  Time in_leg = gone - (running.leg == 0 ? Time{} : kind.ends[running.leg - 1]);
  running.since = queue_.now() - in_leg;
  const Leg& now_in = all[running.leg];
  running.works = now_in.work > in_leg;
  if (running.works) queue_.schedule(running.since + now_in.work, {kWorkOfLegEnds, at});
  running.transfer = 0;
  while (running.transfer < now_in.transfers.size()) {
    const Time whole = alone(now_in.transfers[running.transfer]);
    if (in_leg < whole) break;
    in_leg -= whole;
    ++running.transfer;
  }
  next_transfer(at, in_leg);
}

/// The leg's next transfer begins, or has been under way for so long; none that takes no time is waited for.
void Sequences::next_transfer(std::uint32_t at, Time gone) {
  Running& running = running_[at];
  const std::vector<RoutedBytes>& transfers = legs(running)[running.leg].transfers;
  while (running.transfer < transfers.size() && alone(transfers[running.transfer]) == Time{}) ++running.transfer;
  running.moves = running.transfer < transfers.size();
  if (!running.moves) return;
  const Time latency = graph_.routes().latency(index(transfers[running.transfer].route));
  if (gone < latency)
    queue_.schedule(queue_.now() + (latency - gone), {kLatencyOfTransferEnds, at});
  else
    start_flow(at, gone - latency);
}

/// The latency is over. `gone`: so long ago, and it has moved alone since.
void Sequences::start_flow(std::uint32_t at, Time gone) {
  Running& running = running_[at];
  const RoutedBytes& transfer = legs(running)[running.leg].transfers[running.transfer];
  starts_on(transfer.route);
  network_.start(first_flow() + at, transfer.route, transfer.bytes, gone);
}

/// Part of its leg has ended. Returns whether the sequence has.
bool Sequences::go_on(std::uint32_t at) {
  Running& running = running_[at];
  if (running.works || running.moves) return false;
  ++running.leg;
  return begin_leg(at);
}

std::optional<std::uint32_t> Sequences::ended(std::uint32_t at, bool has) {
  if (!has) return std::nullopt;
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
      return ended(at, true);
    case kWorkOfLegEnds:
      running.works = false;
      return ended(at, go_on(at));
    case kLatencyOfTransferEnds: {
      const RoutedBytes& transfer = legs(running)[running.leg].transfers[running.transfer];
      if (network_.time_alone(transfer.route, transfer.bytes) > Time{}) {
        start_flow(at, {});
        return std::nullopt;
      }
      ++running.transfer;
      next_transfer(at, {});
      return ended(at, go_on(at));
    }
    default:
      throw std::logic_error("an event of no kind");
  }
}

std::optional<std::uint32_t> Sequences::flow_ended(std::uint32_t flow) {
  const std::uint32_t at = flow - first_flow();
  Running& running = running_[at];
  ended_on(legs(running)[running.leg].transfers[running.transfer].route);
  ++running.transfer;
  next_transfer(at, {});
  return ended(at, go_on(at));
}

}  // namespace stepcast::sim
