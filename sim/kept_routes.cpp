// Kept routes of FlowNetwork from instant to instant: which of them start and end, when the repair
// (sim/bottlenecks.cpp) does and when all are filled anew, and when the next of them end.

#include <algorithm>
#include <span>
#include <utility>

#include "sim/flow_network.h"

namespace stepcast::sim {
namespace {

// Where more than one in so many kept routes start or end at one instant, all are filled anew.
constexpr std::size_t kFewChanges = 4;

// Sums that grow and shrink by differences are added up anew after so many repairs: rounding does not pile up.
constexpr std::uint32_t kRepairsPerSum = 512;

}  // namespace

/// Keeps no route any more, and solves what was kept from nothing.
void FlowNetwork::fill_anew(Time now) {
  std::vector<std::uint32_t> routes;
  for (const std::uint32_t id : order_) {
    Bottleneck& bottleneck = bottlenecks_[id];
    for (const Member& member : bottleneck.members) {
      if (states_[member.route].flows == 0) continue;
      advance(member.route, now);
      routes.push_back(member.route);
    }
    for (const Member& member : bottleneck.members) {
      State& state = states_[member.route];
      release(member.route);
      state.due = kNever;
      state.solved = 0;
      for (const Use& use : uses(member.route)) {
        Resource& resource = resources_[index(use.resource)];
        resource.kept = resource.seen = 0;
        pressure_[index(use.resource)] = {};
      }
    }
    bottleneck.members.clear();
    bottleneck.shares = {};
    set_due(id, kForever);
    if (id < resources_.size()) bottleneck.level = 0;
    pressure_[id] = {};
  }
  for (const std::uint32_t id : changed_) pressure_[id] = {};
  order_.clear();
  changed_.clear();
  lowest_changed_ = kNone;
  kept_ = 0;
  std::sort(routes.begin(), routes.end());
  for (const std::uint32_t route : routes) consider(route, now);
}

/// Adds to entering_ a route that is not kept and what is joined to it, if it meets a kept one.
void FlowNetwork::enter_if_it_meets(std::uint32_t route) {
  if (states_[route].solved == instant_) return;
  const auto meets = [&](const Use& use) { return resources_[index(use.resource)].kept != 0; };
  if (std::ranges::none_of(uses(route), meets)) return;
  std::size_t next = entering_.size();
  const auto join_entering = [&](std::uint32_t joined) {
    if (std::exchange(states_[joined].solved, instant_) != instant_) entering_.push_back(joined);
  };
  join_entering(route);
  for (; next < entering_.size(); ++next) {
    for (const Use& use : uses(entering_[next])) {
      Resource& resource = resources_[index(use.resource)];
      if (resource.kept != 0 || std::exchange(resource.seen, instant_) == instant_) continue;
      for (const std::uint32_t joined : active_on(resource)) join_entering(joined);
    }
  }
}

/// Brings the kept routes, and those that meet them now, to the rates after the starts and ends of this instant.
void FlowNetwork::update_kept(Time now) {
  leaving_.clear();
  entering_.clear();
  for (const std::uint32_t route : touched_routes_) {
    if (states_[route].kept()) {
      leaving_.push_back(route);
    } else if (states_[route].flows != 0) {
      enter_if_it_meets(route);
    }
  }
  std::sort(leaving_.begin(), leaving_.end());
  leaving_.erase(std::unique(leaving_.begin(), leaving_.end()), leaving_.end());
  if ((leaving_.size() + entering_.size()) * kFewChanges > kept_) {
    for (const std::uint32_t route : entering_) {
      states_[route].solved = 0;
      for (const Use& use : uses(route)) resources_[index(use.resource)].seen = 0;
    }
    fill_anew(now);
    return;
  }
  moving_.clear();
  for (const std::uint32_t route : leaving_) {
    moving_.push_back(leave(route));
    if (states_[route].flows != 0) entering_.push_back(route);
  }
  std::sort(moving_.begin(), moving_.end());
  moving_.erase(std::unique(moving_.begin(), moving_.end()), moving_.end());
  for (const std::uint32_t id : moving_) drop_leavers(id);
  std::sort(entering_.begin(), entering_.end());
  for (const std::uint32_t route : entering_) {
    advance(route, now);
    enter(route, now);
  }
  if (++repairs_ % kRepairsPerSum == 0) add_up_taken(now);
  if (!repair(now)) fill_anew(now);
}

/// When the next end of a kept route is; first_due_: the bottlenecks that have one then, in their order.
Time FlowNetwork::find_first_due() {
  const auto block = [&](std::size_t b) {
    const std::size_t begin = b * kDuesInBlock;
    return std::span(dues_).subspan(begin, std::min<std::size_t>(kDuesInBlock, dues_.size() - begin));
  };
  Time first = kForever;
  for (std::size_t b = 0; b < block_dues_.size(); ++b) {
    if (block_stale_[b]) {
      Time least = kForever;
      for (const Time due : block(b)) least = std::min(least, due);
      block_dues_[b] = least;
      block_stale_[b] = false;
    }
    first = std::min(first, block_dues_[b]);
  }
  first_due_.clear();
  if (first == kForever) return first;
  for (std::size_t b = 0; b < block_dues_.size(); ++b) {
    if (block_dues_[b] != first) continue;
    for (std::size_t i = 0; i < block(b).size(); ++i)
      if (block(b)[i] == first) first_due_.push_back(static_cast<std::uint32_t>(b * kDuesInBlock + i));
  }
  std::ranges::sort(first_due_, {}, [&](std::uint32_t id) { return pressure_[id].position; });
  return first;
}

/// Plans the first ends of kept routes.
void FlowNetwork::plan_kept(Time now) {
  for (const std::uint32_t id : changed_) {
    pressure_[id].changed = false;
    Bottleneck& bottleneck = bottlenecks_[id];
    if (bottleneck.members.empty() || !bottleneck.due_stale) continue;
    set_due(id, std::max(end_of(bottleneck, bottleneck.first_end), Time{now.value + 1}));
    bottleneck.due_stale = false;
  }
  changed_.clear();
  const Time first = find_first_due();
  for (const std::uint32_t id : first_due_) {
    const Bottleneck& bottleneck = bottlenecks_[id];
    // No picosecond is that long, and no rounding that large.
    const double end =
        bottleneck.first_end + 1e-9 * (bottleneck.first_end - bottleneck.moved) + 4e-12 * bottleneck.level;
    for (const Member& member : bottleneck.members) {
      if (member.end > end || end_of(bottleneck, member.end) > first) continue;
      states_[member.route].due = first;
      plan(member.route);
    }
  }
}

}  // namespace stepcast::sim
