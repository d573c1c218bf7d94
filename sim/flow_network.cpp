#include "sim/flow_network.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <stdexcept>
#include <utility>

#include "sim/units_text.h"

namespace stepcast::sim {
namespace {

// A duration within this of a whole picosecond is that picosecond: rounding noise of the division, which must not cost
// one picosecond more. Not a simple fraction, so that no natural duration falls on the boundary, where rounding would
// decide. Where it is more than a picosecond the nearest one is meant: a flow alone must take its own time.
constexpr double kNoisePicoseconds = 0.00973;
constexpr double kNoiseRelative = 1e-13;

constexpr double kLongestPicoseconds = 9.2e18;

std::int64_t ceil_picoseconds(double bytes, double rate) {
  const double ps = bytes / rate * kPicosecondsPerSecond;
  const double nearest = std::nearbyint(ps);
  const double up =
      std::abs(ps - nearest) <= std::max(kNoisePicoseconds, ps * kNoiseRelative) ? nearest : std::ceil(ps);
  if (!(up < kLongestPicoseconds))
    throw std::overflow_error("a flow of " + text(Bytes{static_cast<std::int64_t>(std::min(bytes, 9e18))}) + " at " +
                              text(Bandwidth{rate}) + " takes more than 106 days");
  return std::max<std::int64_t>(static_cast<std::int64_t>(up), 0);
}

constexpr auto kEndsLater = [](const auto& a, const auto& b) {
  return a.target > b.target || (a.target == b.target && a.name > b.name);
};

// A component of so many routes is large.
constexpr std::size_t kLarge = 256;

// The memory of more starts than this is given back.
constexpr std::size_t kManyStarts = 65'536;

// A large component of which less than one in so many routes starts or ends at an instant is kept and repaired.
constexpr std::size_t kFewTouched = 4;

}  // namespace

FlowNetwork::FlowNetwork(const TaskGraph& graph) : routes_(graph.routes()), uses_(routes_.uses().data()) {
  for (const Bandwidth capacity : graph.resources()) resources_.push_back({.capacity = capacity.value});
  if (routes_.uses().size() >= kNone) throw std::length_error("more than 2^32 uses of resources");
  fixed_.resize(routes_.size());
  states_.resize(routes_.size());
  links_.resize(routes_.uses().size());
  bitmap_.resize(routes_.size() / 64 + 1);
  std::map<double, std::uint32_t> limiters;  // by limit over weight
  for (std::uint32_t r = 0; r < fixed_.size(); ++r) {
    const Routes::Stored route = routes_[r];
    Fixed& fixed = fixed_[r];
    fixed.begin = fixed.end = static_cast<std::uint32_t>(routes_.first_use(r));
    double narrowest = kInfinity;
    for (const Use& use : route.uses) {
      const double capacity = resources_[index(use.resource)].capacity;
      if (capacity == kInfinity) break;  // never full, and last among the uses
      narrowest = std::min(narrowest, capacity / use.load);
      links_[fixed.end++].route = r;
    }
    if (!(route.limit.value < narrowest)) continue;
    const auto id = static_cast<std::uint32_t>(resources_.size() + limiters.size());
    fixed.limiter = limiters.try_emplace(route.limit.value / route.weight, id).first->second;
  }
  bottlenecks_.resize(resources_.size() + limiters.size());
  pressure_.resize(bottlenecks_.size());
  dues_.resize(bottlenecks_.size(), kForever);
  block_dues_.resize(bottlenecks_.size() / kDuesInBlock + 1, kForever);
  block_stale_.resize(block_dues_.size());
  for (const auto& [limit, id] : limiters) bottlenecks_[id].level = limit;
}

/// Puts the route on the lists of its resources.
void FlowNetwork::link(std::uint32_t route) {
  for (std::uint32_t u = fixed_[route].begin; u < fixed_[route].end; ++u) {
    Link& link = links_[u];
    Resource& resource = resources_[index(uses_[u].resource)];
    link.previous = kNone;
    link.next = resource.first;
    if (link.next != kNone) links_[link.next].previous = u;
    resource.first = u;
    ++resource.active;
  }
}

/// Takes the route off its resources and notes those that others still use.
void FlowNetwork::unlink(std::uint32_t route) {
  for (std::uint32_t u = fixed_[route].begin; u < fixed_[route].end; ++u) {
    const Link& link = links_[u];
    const std::uint32_t id = index(uses_[u].resource);
    Resource& resource = resources_[id];
    if (link.next != kNone) links_[link.next].previous = link.previous;
    (link.previous != kNone ? links_[link.previous].next : resource.first) = link.next;
    --resource.active;
    if (std::exchange(resource.touched, instant_) != instant_) touched_resources_.push_back(id);
  }
}

/// Brings the route's progress to `now` at the rate it has had since.
void FlowNetwork::advance(std::uint32_t route, Time now) {
  State& state = states_[route];
  if (state.kept()) {
    const Bottleneck& bottleneck = bottlenecks_[state.bottleneck];
    const double moved = bottleneck.moved + bottleneck.level * to_seconds(now - bottleneck.since);
    state.progress += (moved - state.anchor) * weight(route);
    state.anchor = moved;
    state.rate = rate_of(route);
  } else {
    state.progress += state.rate * to_seconds(now - state.since);
  }
  state.since = now;
}

Time FlowNetwork::end_of(const State& state, double target) const {
  return state.since + picoseconds(ceil_picoseconds(std::max(target - state.progress, 0.0), state.rate));
}

Time FlowNetwork::end_of(const Bottleneck& bottleneck, double end) const {
  return bottleneck.since + picoseconds(ceil_picoseconds(std::max(end - bottleneck.moved, 0.0), bottleneck.level));
}

/// Lets a flow that start() has noted begin.
void FlowNetwork::add(const Start& start, Time now) {
  const std::uint32_t r = index(start.route);
  const double size = static_cast<double>(start.bytes.value);
  State& state = states_[r];
  touched_routes_.push_back(r);
  if (state.flows++ == 0) {
    state.progress = 0;
    state.since = now;
    state.rate = 0;
    state.due = kNever;
    set_head(state, {size, start.flow});
    link(r);
    return;
  }
  advance(r, now);
  if (state.others == kNone) {
    state.others = static_cast<std::uint32_t>(heaps_.size());
    heaps_.emplace_back();
  }
  Flow added{state.progress + size, start.flow};
  if (const Flow head{state.head_target, state.head_name}; kEndsLater(head, added)) {
    set_head(state, std::exchange(added, head));
    state.due = kNever;  // the next end is another flow's: settle() must say when
  }
  std::vector<Flow>& others = heaps_[state.others];
  others.push_back(added);
  std::push_heap(others.begin(), others.end(), kEndsLater);
}

/// Of the head, which ends now: whether what it has moved is what it was to move. Ends are whole picoseconds, and one
/// that falls together with a change of its rate may come one later.
void FlowNetwork::note_loss(std::uint32_t route, Time now) {
  constexpr double kRounding = 1e-9, kLate = 2 / kPicosecondsPerSecond;
  const State& state = states_[route];
  const double missing = state.head_target - state.progress - state.rate * to_seconds(now - state.since);
  if (std::abs(missing) <= kRounding * state.head_target + kLate * state.rate) return;
  double most = routes_[route].limit.value;
  for (const Use& use : uses(route)) most = std::min(most, resources_[index(use.resource)].capacity / use.load);
  if (std::abs(missing) > kRounding * state.head_target + kLate * most) losses_.push_back({RouteId{route}, missing});
}

std::optional<Time> FlowNetwork::expire(RouteId route, Time now, std::vector<std::uint32_t>& ended) {
  const std::uint32_t r = index(route);
  State& state = states_[r];
  if (state.wake != now) return std::nullopt;
  state.wake = kNever;
  if (state.flows == 0) return std::nullopt;
  if (state.kept()) {
    // Where it ends later, the coming settle() will plan it.
    if (end_of(bottlenecks_[state.bottleneck], end_of_head(r)) > now) return std::nullopt;
    advance(r, now);
    touched_routes_.push_back(r);
  } else if (state.due != now) {
    if (state.due != kNever) state.wake = state.due;
    return state.due != kNever ? std::optional(state.due) : std::nullopt;  // kNever: the coming settle() will plan it
  }
  state.due = kNever;
  note_loss(r, now);
  ended.push_back(state.head_name);
  if (--state.flows == 0) {
    state.rate = 0;
    unlink(r);
    return std::nullopt;
  }
  touched_routes_.push_back(r);
  std::vector<Flow>& others = heaps_[state.others];
  for (;;) {
    std::pop_heap(others.begin(), others.end(), kEndsLater);
    set_head(state, others.back());
    others.pop_back();
    if (end_of(state, state.head_target) > now) return std::nullopt;
    note_loss(r, now);
    ended.push_back(state.head_name);
    if (--state.flows == 0) break;
  }
  state.rate = 0;
  unlink(r);
  return std::nullopt;
}

std::span<const FlowNetwork::Due> FlowNetwork::settle(Time now) {
  due_.clear();
  for (const Start& start : starts_) add(start, now);
  if (starts_.size() > kManyStarts) {
    starts_ = {};
  } else {
    starts_.clear();
  }
  if (kept_ != 0 && !touched_routes_.empty()) update_kept(now);
  for (const std::uint32_t route : touched_routes_) {
    if (states_[route].flows != 0 && !states_[route].kept()) consider(route, now);
  }
  for (const std::uint32_t id : touched_resources_) {
    const Resource& resource = resources_[id];
    if (resource.active != 0 && resource.kept == 0) consider(links_[resource.first].route, now);
  }
  if (kept_ != 0) plan_kept(now);
  touched_routes_.clear();
  touched_resources_.clear();
  if (++instant_ == 0) {  // 2^32 instants: start the marks again
    instant_ = 1;
    for (State& state : states_) state.solved = 0;
    for (Resource& resource : resources_) resource.seen = resource.touched = 0;
  }
  return due_;
}

/// Solves the component of this route, unless this instant has already done so.
void FlowNetwork::consider(std::uint32_t route, Time now) {
  State& state = states_[route];
  if (state.solved == instant_) return;
  bool alone = true;
  for (const Use& use : uses(route)) alone = alone && resources_[index(use.resource)].active == 1;
  if (!alone) {
    gather(route);
    solve(now);
    if (component_.size() >= kLarge && touched_routes_.size() * kFewTouched < component_.size()) {
      keep_component(now);
    } else {
      plan_component();
    }
    return;
  }
  state.solved = instant_;
  double rate = routes_[route].limit.value;
  for (const Use& use : uses(route)) {
    rate = std::min(rate, resources_[index(use.resource)].capacity / (use.load * state.flows));
  }
  set_rate(route, rate, now);
  plan(route);
}

void FlowNetwork::set_rate(std::uint32_t route, double rate, Time now) {
  State& state = states_[route];
  if (std::abs(rate - state.rate) > kSameRate * state.rate) {
    if (state.rate > 0) advance(route, now);
    state.rate = rate;
  } else if (state.due != kNever) {
    return;
  }
  Time at = end_of(state, state.head_target);
  if (at <= now) at = {now.value + 1};
  state.due = at;
}

/// Has expire() called when the route's head ends, or earlier if that is planned already.
void FlowNetwork::plan(std::uint32_t route) {
  State& state = states_[route];
  if (state.wake != kNever && state.wake <= state.due) return;
  state.wake = state.due;
  due_.push_back({RouteId{route}, state.due});
}

void FlowNetwork::plan_component() {
  Time first{std::numeric_limits<std::int64_t>::max()};
  for (const std::uint32_t route : component_) first = std::min(first, states_[route].due);
  for (const std::uint32_t route : component_) {
    if (states_[route].due == first) plan(route);
  }
}

}  // namespace stepcast::sim
