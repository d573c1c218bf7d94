#include "collectives/timing/play.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <stdexcept>

#include "collectives/timing/lower.h"
#include "sim/executor.h"

namespace stepcast::collectives {
namespace {

/// So many rounds are tried first. Fewer than so many times what has been tried are not worth another try.
constexpr std::uint32_t kFirst = 32, kWorth = 4;

/// Every `rounds` rounds the same happens again, `time` later.
struct RoundPeriod {
  std::uint32_t rounds = 0;
  Time time{};
};

/// The start and finish of every task of a timeline, by the plan's rounds.
class Rounds {
 public:
  Rounds(const sim::Timeline& timeline, std::uint32_t groups, std::uint32_t rounds)
      : timeline_(timeline),
        groups_(groups),
        rounds_(rounds),
        tasks_(timeline.start.size() / groups / rounds),
        first_start_(rounds, {std::numeric_limits<std::int64_t>::max()}),
        last_finish_(rounds) {
    Time first_end{std::numeric_limits<std::int64_t>::max()};
    for (std::uint32_t round = 0; round < rounds_; ++round) {
      each_task(round, [&](std::size_t task) {
        first_start_[round] = std::min(first_start_[round], timeline_.start[task]);
        last_finish_[round] = std::max(last_finish_[round], timeline_.finish[task]);
        if (round + 1 == rounds_) first_end = std::min(first_end, timeline_.finish[task]);
        return true;
      });
    }
    as_if_endless_ = first_end;
  }

  /// What happens before `moment` decides all that follows, and is it the same before `moment` + time? Under way at
  /// the moment are tasks of the rounds from `oldest` on. How far they are depends on what ran beside them since they
  /// started, tasks of the rounds from `beside` on. All of these, and the round before, must be the same `shift` rounds
  /// later; and until then no task may have ended the last round, which in the whole plan is not the last.
  std::optional<RoundPeriod> period() const {
    for (std::uint32_t shift = 1; 2 * shift < rounds_; ++shift) {
      std::uint32_t now = rounds_ - 1 - shift;
      while (now > 0 && last_finish_[now + shift] > as_if_endless_) --now;
      const Time moment = first_start_[now];
      std::uint32_t oldest = now;
      while (oldest > 0 && last_finish_[oldest - 1] >= moment) --oldest;
      std::uint32_t beside = oldest;
      while (beside > 0 && last_finish_[beside - 1] > first_start_[oldest]) --beside;
      if (beside == 0) continue;
      const Time time = first_start_[now + shift] - moment;
      bool same = true;
      for (std::uint32_t round = beside - 1; same && round <= now; ++round) same = alike(round, shift, time);
      if (same) return RoundPeriod{shift, time};
    }
    return {};
  }

 private:
  template <class Visit>
  bool each_task(std::uint32_t round, Visit visit) const {
    for (std::uint32_t group = 0; group < groups_; ++group) {
      const std::size_t first = (std::size_t{group} * rounds_ + round) * tasks_;
      for (std::size_t task = first; task < first + tasks_; ++task) {
        if (!visit(task)) return false;
      }
    }
    return true;
  }

  bool alike(std::uint32_t round, std::uint32_t shift, Time time) const {
    return each_task(round, [&](std::size_t task) {
      const std::size_t later = task + shift * tasks_;
      return timeline_.start[later] - timeline_.start[task] == time &&
             timeline_.finish[later] - timeline_.finish[task] == time;
    });
  }

  const sim::Timeline& timeline_;
  std::uint32_t groups_, rounds_;
  std::size_t tasks_;                            // of one group and round
  std::vector<Time> first_start_, last_finish_;  // by round; neither falls from round to round
  Time as_if_endless_{};                         // until then the whole plan does the same
};

/// A plan's rounds, and those that are simulated as tasks. The plan itself is not kept: it takes as much memory.
struct LoweredPlan {
  std::uint32_t rounds = 0;
  std::uint32_t ranks = 0;              ///< with the switches
  std::vector<Connection> connections;  ///< only where data passes through the ranks
  sim::TaskGraph graph;
};
LoweredPlan lowered(const Algorithm& algorithm, Request& request, const Wiring& wiring, double scale,
                    bool few_are_whole) {
  CollectivePlan plan = algorithm.plan(request);
  if (few_are_whole && request.rounds < plan.rounds && plan.rounds < kWorth * request.rounds) {
    request.rounds = 0;
    plan = algorithm.plan(request);
  }
  sim::TaskGraph graph = lower(plan, wiring, scale);
  if (!passes_through(request.operation)) plan.connections.clear();
  return {plan.rounds, plan.ranks + plan.switches, std::move(plan.connections), std::move(graph)};
}

/// When a rank is at work: from the first data that reach it, or that it sends where none do, until it starts to send
/// its last, or has its last.
struct AtWork {
  static constexpr Time kNever{std::numeric_limits<std::int64_t>::max()};
  Time arrived = kNever, sent = kNever, last{};

  Time begin() const { return arrived == kNever ? sent : arrived; }
};

/// Outcome::longest_pause of what ran.
Time longest_pause(const LoweredPlan& plan, const Wiring& wiring, const sim::Timeline& timeline) {
  std::uint32_t channels = 1;
  for (const Connection& over : plan.connections) channels = std::max(channels, over.channel + 1);
  std::vector<AtWork> parts(std::size_t{plan.ranks} * wiring.groups * channels);  // by rank, and by channel of it
  for (std::size_t task = 0; task < plan.graph.tasks().size(); ++task) {
    const sim::TaskGraph::Task& transfer = plan.graph.tasks()[task];
    if (transfer.route == sim::TaskGraph::kNoRoute) continue;
    const std::uint32_t route = sim::index(transfer.route);
    const Connection& over = plan.connections[route % wiring.connections];
    const std::size_t first = std::size_t{route / wiring.connections} * plan.ranks;
    AtWork& source = parts[(first + index(over.source)) * channels + over.channel];
    AtWork& destination = parts[(first + index(over.destination)) * channels + over.channel];
    source.sent = std::min(source.sent, timeline.start[task]);
    source.last = std::max(source.last, timeline.start[task]);
    destination.arrived = std::min(destination.arrived, timeline.finish[task]);
    destination.last = std::max(destination.last, timeline.finish[task]);
  }
  Time longest{};
  for (std::size_t rank = 0; rank < parts.size(); rank += channels) {
    Time begin = AtWork::kNever, end{}, one{};
    for (std::size_t part = rank; part < rank + channels; ++part) {
      if (parts[part].begin() == AtWork::kNever) continue;
      begin = std::min(begin, parts[part].begin());
      end = std::max(end, parts[part].last);
      one = std::max(one, parts[part].last - parts[part].begin());
    }
    if (begin != AtWork::kNever) longest = std::max(longest, end - begin - one);
  }
  return longest;
}

/// Outcome::at_work of what ran.
std::vector<RouteAtWork> at_work(const LoweredPlan& plan, const Wiring& wiring, const sim::Timeline& timeline) {
  std::vector<RouteAtWork> all(wiring.routes.size(), RouteAtWork{Time{std::numeric_limits<std::int64_t>::max()}, {}});
  for (std::size_t task = 0; task < plan.graph.tasks().size(); ++task) {
    const sim::TaskGraph::Task& transfer = plan.graph.tasks()[task];
    if (transfer.route == sim::TaskGraph::kNoRoute) continue;
    RouteAtWork& of = all[sim::index(transfer.route)];
    of.begin = std::min(of.begin, timeline.start[task]);
    of.end = std::max(of.end, timeline.finish[task]);
  }
  return all;
}

Outcome outcome(const Algorithm& algorithm, const LoweredPlan& plan, const Wiring& wiring, sim::Timeline timeline) {
  const sim::TaskGraph& graph = plan.graph;
  Outcome out{.end = timeline.end,
              .group_end = std::vector<Time>(wiring.groups),
              .carried = std::move(timeline.carried),
              .by_route = std::vector<double>(wiring.routes.size()),
              .transfers = std::vector<std::uint32_t>(wiring.routes.size()),
              .at_work = algorithm.peers_in_turn ? at_work(plan, wiring, timeline) : std::vector<RouteAtWork>{},
              .longest_pause = plan.connections.empty() ? Time{} : longest_pause(plan, wiring, timeline)};
  wiring.spread(out.carried);
  for (std::size_t task = 0; task < graph.tasks().size(); ++task) {
    const sim::TaskGraph::Task& transfer = graph.tasks()[task];
    if (transfer.route == sim::TaskGraph::kNoRoute) continue;
    const std::uint32_t route = sim::index(transfer.route);
    out.by_route[route] += static_cast<double>(transfer.amount);
    ++out.transfers[route];
    Time& end = out.group_end[route / wiring.connections];
    end = std::max(end, timeline.finish[task]);
  }
  return out;
}

}  // namespace

bool passes_through(Operation operation) { return operation == Operation::broadcast || operation == Operation::reduce; }

std::vector<double> bytes_by_route(const CollectivePlan& plan, const Wiring& wiring) {
  std::vector<double> by_route(wiring.routes.size());
  for (const Transfer& transfer : plan.transfers) {
    const std::int64_t bytes = plan.elements(transfer.chunk);
    for (std::uint32_t g = 0; g < wiring.groups; ++g) {
      by_route[g * wiring.connections + index(transfer.connection)] += static_cast<double>(bytes);
    }
  }
  return by_route;
}

Outcome play(const Algorithm& algorithm, Request request, const Wiring& wiring, double scale, bool shorten) {
  request.rounds = shorten ? kFirst : 0;
  std::optional<RoundPeriod> period;
  while (true) {
    const LoweredPlan plan = lowered(algorithm, request, wiring, scale, request.rounds != 0 && !period);
    const std::uint32_t all = plan.rounds, rounds = request.rounds;
    sim::Timeline timeline = sim::run(plan.graph);
    if (rounds == 0 || rounds >= all) return outcome(algorithm, plan, wiring, std::move(timeline));
    if (!period) {
      period = Rounds(timeline, wiring.groups, rounds).period();
      if (!period) {
        request.rounds *= kWorth;
        continue;
      }
      request.rounds += (all - rounds) % period->rounds;  // what is left must be whole periods
      if (request.rounds != rounds) continue;
    }
    Outcome result = outcome(algorithm, plan, wiring, std::move(timeline));
    const Time rest = period->time * std::int64_t{(all - rounds) / period->rounds};
    result.end += rest;
    for (Time& end : result.group_end) end += rest;
    const double times = static_cast<double>(all) / rounds;
    for (double& bytes : result.carried) bytes *= times;
    for (double& bytes : result.by_route) bytes *= times;
    for (std::uint32_t& transfers : result.transfers)
      transfers = static_cast<std::uint32_t>(std::uint64_t{transfers} * all / rounds);
    return result;
  }
}

}  // namespace stepcast::collectives
