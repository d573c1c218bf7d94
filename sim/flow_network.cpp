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
  // As std::nearbyint() and std::ceil() would, which are calls; and without a branch, which nobody could predict. From
  // 2^52 on there are no fractions.
  constexpr double kWhole = 0x1p52;
  const double nearest = ps < kWhole ? (ps + kWhole) - kWhole : ps;
  const bool above = ps - nearest > std::max(kNoisePicoseconds, ps * kNoiseRelative);
  const double up = nearest + static_cast<double>(above);
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

// A large component of which less than one in so many routes starts or ends at an instant is kept and repaired.
constexpr std::size_t kFewTouched = 4;

}  // namespace

FlowNetwork::FlowNetwork(const TaskGraph& graph) : routes_(graph.routes()), uses_(routes_.reader()) {
  resources_.reserve(graph.resources().size());
  for (const Bandwidth capacity : graph.resources()) resources_.push_back({.capacity = capacity.value});
  first_use_.reserve(routes_.size());
  std::size_t uses_of_all = 0;
  for (std::uint32_t r = 0; r < routes_.size(); ++r) {
    first_use_.push_back(static_cast<std::uint32_t>(uses_of_all));
    for (const Use& use : uses(r)) ++resources_[index(use.resource)].begin;
    uses_of_all += uses(r).size();
    if (uses_of_all >= kNone) throw std::length_error("more than 2^32 uses of resources");
  }
  active_.resize(uses_of_all);
  place_.resize(uses_of_all);
  std::uint32_t places = 0;
  for (Resource& resource : resources_) places += std::exchange(resource.begin, places);
  states_.resize(routes_.size());
  bitmap_.resize(routes_.size() / 64 + 1);
  std::map<double, std::uint32_t> limiters;  // by limit over weight
  alone_.reserve(routes_.size());
  for (std::uint32_t r = 0; r < routes_.size(); ++r) {
    const Routes::Stored route = routes_[r];
    double narrowest = kInfinity;
    route.uses.each(
        [&](const Use& use) { narrowest = std::min(narrowest, resources_[index(use.resource)].capacity / use.load); });
    alone_.push_back(rates_.place_of(std::min(route.limit.value, narrowest)));
    if (route.limit.value == kInfinity) continue;
    if (!(route.limit.value < narrowest)) continue;
    const auto id = static_cast<std::uint32_t>(resources_.size() + limiters.size());
    limiters_.resize(routes_.size(), kNone);
    limiters_[r] = limiters.try_emplace(route.limit.value / route.weight, id).first->second;
  }
  bottlenecks_.resize(resources_.size() + limiters.size());
  pressure_.resize(bottlenecks_.size());
  dues_.resize(bottlenecks_.size(), kForever);
  block_dues_.resize(bottlenecks_.size() / kDuesInBlock + 1, kForever);
  block_stale_.resize(block_dues_.size());
  for (const auto& [limit, id] : limiters) bottlenecks_[id].level = limit;
}

/// Puts the route among those active on its resources.
void FlowNetwork::link(std::uint32_t route) {
  std::uint32_t* place = place_.data() + first_use_[route];
  uses(route).each([&](const Use& use) {
    Resource& resource = resources_[index(use.resource)];
    *place = resource.begin + resource.active++;
    active_[*place++] = route;
  });
}

/// Takes the route off its resources, where the last one takes its place, and notes those that others still use.
void FlowNetwork::unlink(std::uint32_t route) {
  const std::uint32_t* place = place_.data() + first_use_[route];
  uses(route).each([&](const Use& use) {
    Resource& resource = resources_[index(use.resource)];
    const std::uint32_t last = active_[resource.begin + --resource.active];
    if (last != route) {
      std::uint32_t* of_last = place_.data() + first_use_[last];
      for (const Use& other : uses(last)) {
        if (other.resource == use.resource) break;
        ++of_last;
      }
      *of_last = *place;
      active_[*place] = last;
    }
    ++place;
    if (std::exchange(resource.touched, instant_) != instant_) touched_resources_.push_back(index(use.resource));
  });
}

/// The route's last flow has ended. A kept route is released in settle().
void FlowNetwork::stop(std::uint32_t route) {
  if (!states_[route].kept()) states_[route].rate = 0;
  unlink(route);
}

/// Brings the route's progress to `now` at the rate it has had since.
void FlowNetwork::advance(std::uint32_t route, Time now) {
  State& state = states_[route];
  if (state.kept()) {
    const Bottleneck& bottleneck = bottlenecks_[state.bottleneck];
    const double moved = bottleneck.moved + bottleneck.level * to_seconds(now - bottleneck.since);
    state.progress += (moved - state.anchor) * weight(route);
    state.anchor = moved;
  } else {
    state.progress += state.rate * to_seconds(now - state.since);
  }
  state.since = now;
}

/// When the route's progress is that at the rate it has.
Time FlowNetwork::end_of_flow(std::uint32_t route, double target) const {
  const State& state = states_[route];
  return state.since + picoseconds(ceil_picoseconds(std::max(target - state.progress, 0.0), rate_of(route)));
}

Time FlowNetwork::end_of(const Bottleneck& bottleneck, double end) const {
  return bottleneck.since + picoseconds(ceil_picoseconds(std::max(end - bottleneck.moved, 0.0), bottleneck.level));
}

Time FlowNetwork::time_alone(RouteId route, Bytes bytes) const {
  const double rate = rate_alone(route);
  if (bytes.value == 0 || rate == kInfinity) return {};
  return picoseconds(std::max<std::int64_t>(ceil_picoseconds(static_cast<double>(bytes.value), rate), 1));
}

/// Lets a flow that start() has noted begin.
void FlowNetwork::add(const Start& start, Time now) {
  const std::uint32_t r = index(start.route);
  const double size = static_cast<double>(start.bytes.value);
  State& state = states_[r];
  touched_routes_.push_back(r);
  if (state.flows++ == 0) {
    state.progress = start.moved;
    state.since = now;
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
  Flow added{state.progress + (size - start.moved), start.flow};
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
  const double rate = rate_of(route), rounding = kRounding * state.head_target;
  const double missing = state.head_target - state.progress - rate * to_seconds(now - state.since);
  if (std::abs(missing) <= rounding + kLate * rate) return;
  if (std::abs(missing) > rounding + kLate * rate_alone(RouteId{route})) losses_.push_back({RouteId{route}, missing});
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
    stop(r);
    return std::nullopt;
  }
  touched_routes_.push_back(r);
  std::vector<Flow>& others = heaps_[state.others];
  for (;;) {
    std::pop_heap(others.begin(), others.end(), kEndsLater);
    set_head(state, others.back());
    others.pop_back();
    if (end_of_flow(r, state.head_target) > now) return std::nullopt;
    note_loss(r, now);
    ended.push_back(state.head_name);
    if (--state.flows == 0) break;
  }
  stop(r);
  return std::nullopt;
}

std::span<const RouteId> FlowNetwork::settle(Time now) {
  empty(planned_);
  if (starts_.empty() && touched_routes_.empty() && touched_resources_.empty() && kept_ == 0) return planned_;
  for (const Start& start : starts_) add(start, now);
  empty(starts_);
  if (kept_ != 0 && !touched_routes_.empty()) update_kept(now);
  for (const std::uint32_t route : touched_routes_) {
    if (states_[route].flows != 0 && !states_[route].kept()) consider(route, now);
  }
  for (const std::uint32_t id : touched_resources_) {
    const Resource& resource = resources_[id];
    if (resource.active != 0 && resource.kept == 0) consider(active_on(resource).front(), now);
  }
  if (kept_ != 0) plan_kept(now);
  empty(touched_routes_);
  touched_resources_.clear();
  if (++instant_ == 0) {  // 2^32 instants: start the marks again
    instant_ = 1;
    for (State& state : states_) state.solved = 0;
    for (Resource& resource : resources_) resource.seen = resource.touched = 0;
  }
  return planned_;
}

/// Solves the component of this route, unless this instant has already done so.
void FlowNetwork::consider(std::uint32_t route, Time now) {
  State& state = states_[route];
  if (state.solved == instant_) return;
  bool alone = true;
  for (const Use& use : uses(route)) {
    alone = resources_[index(use.resource)].active == 1;
    if (!alone) break;
  }
  if (!alone) {
    gather(route);
    share(now);
    if (component_.size() >= kLarge && touched_routes_.size() * kFewTouched < component_.size()) {
      keep_component(now);
    } else {
      plan_component();
    }
    return;
  }
  state.solved = instant_;
  double rate = rate_alone(RouteId{route});
  if (state.flows > 1) {
    rate = routes_.limit(route).value;
    for (const Use& use : uses(route))
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
  Time at = end_of_flow(route, state.head_target);
  if (at <= now) at = {now.value + 1};
  state.due = at;
}

/// Has expire() called when the route's head ends, or earlier if that is planned already.
void FlowNetwork::plan(std::uint32_t route) {
  State& state = states_[route];
  if (state.wake != kNever && state.wake <= state.due) return;
  state.wake = state.due;
  planned_.push_back(RouteId{route});
}

void FlowNetwork::plan_component() {
  Time first{std::numeric_limits<std::int64_t>::max()};
  for (const std::uint32_t route : component_) first = std::min(first, states_[route].due);
  for (const std::uint32_t route : component_) {
    if (states_[route].due == first) plan(route);
  }
}

}  // namespace stepcast::sim
