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
  sim::TaskGraph graph;
};
LoweredPlan lowered(const Algorithm& algorithm, Request& request, const Wiring& wiring, double scale,
                    bool few_are_whole) {
  CollectivePlan plan = algorithm.plan(request);
  if (few_are_whole && request.rounds < plan.rounds && plan.rounds < kWorth * request.rounds) {
    request.rounds = 0;
    plan = algorithm.plan(request);
  }
  return {plan.rounds, lower(plan, wiring, scale)};
}

Outcome outcome(const sim::TaskGraph& graph, const Wiring& wiring, sim::Timeline timeline) {
  Outcome out{timeline.end, std::vector<Time>(wiring.groups), std::move(timeline.carried),
              std::vector<double>(wiring.routes.size()), std::vector<std::uint32_t>(wiring.routes.size())};
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
    const auto [all, graph] = lowered(algorithm, request, wiring, scale, request.rounds != 0 && !period);
    sim::Timeline timeline = sim::run(graph);
    const std::uint32_t rounds = request.rounds;
    if (rounds == 0 || rounds >= all) return outcome(graph, wiring, std::move(timeline));
    if (!period) {
      period = Rounds(timeline, wiring.groups, rounds).period();
      if (!period) {
        request.rounds *= kWorth;
        continue;
      }
      request.rounds += (all - rounds) % period->rounds;  // what is left must be whole periods
      if (request.rounds != rounds) continue;
    }
    Outcome result = outcome(graph, wiring, std::move(timeline));
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
