#include "sim/flow_network.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace stepcast::sim {
namespace {

// Two rates closer than this are one: symmetric flows must not differ by the rounding of a sum.
constexpr double kSameRate = 1e-12;

// A duration up to this far above a whole picosecond is that picosecond: rounding noise of the division, which
// must not cost one picosecond more. Not a simple fraction, so that no natural duration falls on the boundary, where
// rounding would decide.
constexpr double kNoisePicoseconds = 0.00973;
constexpr double kNoiseRelative = 1e-13;

constexpr double kLongestPicoseconds = 9.2e18;

std::int64_t ceil_picoseconds(double bytes, double rate) {
  const double ps = bytes / rate * kPicosecondsPerSecond;
  const double up = std::ceil(ps - std::max(kNoisePicoseconds, ps * kNoiseRelative));
  if (!(up < kLongestPicoseconds)) throw std::overflow_error("a flow of more than 106 days");
  return std::max<std::int64_t>(static_cast<std::int64_t>(up), 0);
}

constexpr auto kEndsLater = [](const auto& a, const auto& b) {
  return a.target > b.target || (a.target == b.target && a.name > b.name);
};

// A component of so many routes, and of such a part of all, is large: what it keeps is worth it.
constexpr std::size_t kLarge = 256, kLargePart = 16;
// Rates this much below the floor are filled again too: rounding decides nothing.
constexpr double kBelowFloor = 1e-9;

constexpr auto kLater = [](const auto& a, const auto& b) { return a.at > b.at || (a.at == b.at && a.route > b.route); };

// Earliest level first; the id decides between equals, so that the order never depends on history.
constexpr auto kHigher = [](const auto& a, const auto& b) {
  return a.lambda > b.lambda || (a.lambda == b.lambda && a.resource > b.resource);
};

}  // namespace

FlowNetwork::FlowNetwork(std::span<const Bandwidth> resources, std::span<const Route> routes) {
  resources_.resize(resources.size());
  for (std::size_t i = 0; i < resources.size(); ++i) resources_[i].capacity = resources[i].value;

  std::size_t total = 0;
  for (const Route& route : routes) total += route.uses.size();
  if (total >= kNone) throw std::length_error("more than 2^32 uses of resources");
  uses_.reserve(total);
  fixed_.resize(routes.size() + 1);
  states_.resize(routes.size());
  new_rate_.resize(routes.size());
  bitmap_.resize(routes.size() / 64 + 1);
  filled_.resize(resources.size());
  for (std::uint32_t r = 0; r < routes.size(); ++r) {
    const Route& route = routes[r];
    Fixed& fixed = fixed_[r];
    fixed.uses = static_cast<std::uint32_t>(uses_.size());
    fixed.weight = route.weight;
    double narrowest = kInfinity;
    for (const Use& use : route.uses) {
      const std::uint32_t resource = index(use.resource);
      if (resources_[resource].capacity == kInfinity) continue;  // never full
      // A resource named twice is one use with the sum of the loads.
      const auto first = uses_.begin() + fixed.uses;
      const auto same = std::find_if(first, uses_.end(), [&](const RouteUse& u) { return u.resource == resource; });
      if (same != uses_.end()) {
        same->load += use.load;
      } else {
        uses_.push_back({.load = use.load, .resource = resource, .next = kNone, .previous = kNone, .route = r});
      }
    }
    for (std::size_t u = fixed.uses; u < uses_.size(); ++u) {
      narrowest = std::min(narrowest, resources_[uses_[u].resource].capacity / uses_[u].load);
    }
    fixed.alone = std::min(narrowest, route.limit.value);
    fixed.limit = route.limit.value < narrowest ? route.limit.value : kInfinity;
  }
  fixed_.back().uses = static_cast<std::uint32_t>(uses_.size());
}

void FlowNetwork::touch(std::uint32_t route) {
  State& state = states_[route];
  if (state.touched == instant_) return;
  state.touched = instant_;
  touched_routes_.push_back(route);
}

/// Puts the route on the lists of its resources.
void FlowNetwork::link(std::uint32_t route) {
  const std::uint32_t end = fixed_[route + 1].uses;
  for (std::uint32_t u = fixed_[route].uses; u < end; ++u) {
    RouteUse& use = uses_[u];
    Resource& resource = resources_[use.resource];
    use.previous = kNone;
    use.next = resource.first;
    if (use.next != kNone) uses_[use.next].previous = u;
    resource.first = u;
    ++resource.active;
  }
}

/// Takes the route off its resources and notes those that others still use.
void FlowNetwork::unlink(std::uint32_t route) {
  for (const RouteUse& use : uses(route)) {
    Resource& resource = resources_[use.resource];
    if (use.next != kNone) uses_[use.next].previous = use.previous;
    (use.previous != kNone ? uses_[use.previous].next : resource.first) = use.next;
    if (--resource.active != 0) touched_resources_.push_back(use.resource);
  }
}

/// Brings the route's progress to `now` at the rate it has had since.
void FlowNetwork::advance(State& state, Time now) {
  state.progress += state.rate * to_seconds(now - state.since);
  state.since = now;
}

Time FlowNetwork::end_of(const State& state, double target) const {
  const std::int64_t left = ceil_picoseconds(std::max(target - state.progress, 0.0), state.rate);
  std::int64_t end = 0;
  if (__builtin_add_overflow(state.since.value, left, &end)) throw std::overflow_error("a time of more than 106 days");
  return {end};
}

/// Lets a flow that start() has noted begin.
void FlowNetwork::add(const Start& start, Time now) {
  const std::uint32_t r = index(start.route);
  const double size = static_cast<double>(start.bytes.value);
  State& state = states_[r];
  touch(r);
  if (state.flows++ == 0) {
    state.progress = 0;
    state.since = now;
    state.rate = 0;
    state.due = kNever;
    state.head = {size, start.flow};
    link(r);
    return;
  }
  advance(state, now);
  if (state.others == kNone) {
    state.others = static_cast<std::uint32_t>(heaps_.size());
    heaps_.emplace_back();
  }
  Flow added{state.progress + size, start.flow};
  if (kEndsLater(state.head, added)) {
    std::swap(state.head, added);
    state.due = kNever;  // the next end is another flow's: settle() must say when
  }
  std::vector<Flow>& others = heaps_[state.others];
  others.push_back(added);
  std::push_heap(others.begin(), others.end(), kEndsLater);
}

std::optional<Time> FlowNetwork::expire(RouteId route, Time now, std::vector<std::uint32_t>& ended) {
  const std::uint32_t r = index(route);
  State& state = states_[r];
  if (state.wake != now) return std::nullopt;
  state.wake = kNever;
  if (state.flows == 0) return std::nullopt;
  if (state.due != now) {
    if (state.due != kNever) state.wake = state.due;
    return state.due != kNever ? std::optional(state.due) : std::nullopt;  // kNever: the coming settle() will plan it
  }
  state.due = kNever;
  leaves(state);
  ended.push_back(state.head.name);
  if (--state.flows == 0) {
    state.rate = 0;
    unlink(r);
    return std::nullopt;
  }
  touch(r);
  std::vector<Flow>& others = heaps_[state.others];
  for (;;) {
    std::pop_heap(others.begin(), others.end(), kEndsLater);
    state.head = others.back();
    others.pop_back();
    if (end_of(state, state.head.target) > now) return std::nullopt;
    ended.push_back(state.head.name);
    if (--state.flows == 0) break;
  }
  state.rate = 0;
  unlink(r);
  return std::nullopt;
}

std::span<const FlowNetwork::Due> FlowNetwork::settle(Time now) {
  due_.clear();
  if (!starts_.empty()) floor_ = 0;
  for (const Start& start : starts_) add(start, now);
  starts_.clear();
  const bool again = floor_ > 0 && floor_ < kInfinity;
  for (const std::uint32_t route : touched_routes_) {
    if (states_[route].flows == 0) continue;
    again ? consider_again(uses_[fixed_[route].uses].resource, now) : consider(route, now);
  }
  for (const std::uint32_t resource : touched_resources_) {
    if (resources_[resource].active == 0) continue;
    again ? consider_again(resource, now) : consider(uses_[resources_[resource].first].route, now);
  }
  touched_routes_.clear();
  touched_resources_.clear();
  plans_ends_ = plans_ends_ || again;
  if (plans_ends_) plan_ends();
  floor_ = kInfinity;
  if (++instant_ == 0) {  // 2^32 instants: start the marks again
    instant_ = 1;
    for (State& state : states_) state.touched = state.solved = 0;
    for (Resource& resource : resources_) resource.seen = 0;
  }
  return due_;
}

/// Solves the component of this route, unless this instant has already done so.
void FlowNetwork::consider(std::uint32_t route, Time now) {
  State& state = states_[route];
  if (state.solved == instant_) return;
  bool alone = true;
  for (const RouteUse& use : uses(route)) alone = alone && resources_[use.resource].active == 1;
  if (!alone) {
    gather(route);
    keep_component();
    solve(now, 0);
    plan_component();
    return;
  }
  state.solved = instant_;
  state.kept = false;
  double rate = fixed_[route].alone;
  if (state.flows != 1) {
    rate = fixed_[route].limit;
    for (const RouteUse& use : uses(route)) {
      rate = std::min(rate, resources_[use.resource].capacity / (use.load * state.flows));
    }
  }
  set_rate(route, rate, now);
  plan(route);
}

/// Fills anew, from the floor on, what is joined to this resource by routes that were fixed there or later.
void FlowNetwork::consider_again(std::uint32_t resource, Time now) {
  const double floor = floor_ * (1 - kBelowFloor);
  std::vector<Filled>& filled = filled_[resource];
  while (!filled.empty() && states_[filled.back().route].flows == 0) filled.pop_back();
  if (filled.empty()) return;
  const std::uint32_t route = filled.back().route;
  if (states_[route].solved == instant_ || states_[route].lambda < floor) return;
  gather_again(route);
  keeps_ = true;
  solve(now, floor);
}

void FlowNetwork::set_rate(std::uint32_t route, double rate, Time now) {
  State& state = states_[route];
  if (std::abs(rate - state.rate) > kSameRate * state.rate) {
    if (state.rate > 0) advance(state, now);
    state.rate = rate;
  } else if (state.due != kNever) {
    return;
  }
  Time at = end_of(state, state.head.target);
  if (at <= now) at = {now.value + 1};
  state.due = at;
  if (!ends_known_ || !state.kept) return;
  ends_.push_back({at, route});
  std::push_heap(ends_.begin(), ends_.end(), kLater);
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

/// Plans the first ends in large components.
void FlowNetwork::plan_ends() {
  const auto overtaken = [&](const End& end) {
    const State& state = states_[end.route];
    return state.flows == 0 || !state.kept || state.due != end.at;
  };
  if (!ends_known_ || ends_.size() > 4 * states_.size()) {
    ends_known_ = true;
    ends_.clear();
    for (std::uint32_t route = 0; route < states_.size(); ++route) {
      const State& state = states_[route];
      if (state.flows != 0 && state.kept && state.due != kNever) ends_.push_back({state.due, route});
    }
    std::make_heap(ends_.begin(), ends_.end(), kLater);
  }
  Time first = kNever;
  while (!ends_.empty()) {
    const End end = ends_.front();
    if (!overtaken(end)) {
      if (first == kNever) first = end.at;
      if (end.at != first) return;
      plan(end.route);
    }
    std::pop_heap(ends_.begin(), ends_.end(), kLater);
    ends_.pop_back();
  }
}

/// All routes joined to this one by shared resources, in the order of their ids: sums over them are then the same
/// whatever the history.
void FlowNetwork::gather(std::uint32_t seed) {
  component_.clear();
  component_resources_.clear();
  component_.push_back(seed);
  states_[seed].solved = instant_;
  for (std::size_t done = 0; done < component_.size(); ++done) {
    for (const RouteUse& use : uses(component_[done])) {
      Resource& resource = resources_[use.resource];
      if (resource.seen == instant_) continue;
      resource.seen = instant_;
      component_resources_.push_back(use.resource);
      for (std::uint32_t u = resource.first; u != kNone; u = uses_[u].next) {
        State& state = states_[uses_[u].route];
        if (state.solved == instant_) continue;
        state.solved = instant_;
        component_.push_back(uses_[u].route);
      }
    }
  }
  sort_component();
}

/// All routes joined to this one by shared resources and fixed at the floor or later; takes them off the resources'
/// orders, down to what is left there for them.
void FlowNetwork::gather_again(std::uint32_t seed) {
  const double floor = floor_ * (1 - kBelowFloor);
  component_.clear();
  component_resources_.clear();
  component_.push_back(seed);
  states_[seed].solved = instant_;
  for (std::size_t done = 0; done < component_.size(); ++done) {
    for (const RouteUse& use : uses(component_[done])) {
      Resource& resource = resources_[use.resource];
      if (resource.seen == instant_) continue;
      resource.seen = instant_;
      component_resources_.push_back(use.resource);
      std::vector<Filled>& filled = filled_[use.resource];
      resource.degree = 0;
      for (; !filled.empty(); filled.pop_back()) {
        State& state = states_[filled.back().route];
        if (state.flows != 0) {
          if (state.lambda < floor) break;
          ++resource.degree;
          if (state.solved != instant_) component_.push_back(filled.back().route);
          state.solved = instant_;
        }
        resource.left = filled.back().left;
      }
    }
  }
  sort_component();
}

/// Of a large component, makes room for the order in which the coming solve() fills its resources.
void FlowNetwork::keep_component() {
  keeps_ = component_.size() >= kLarge && component_.size() * kLargePart >= states_.size();
  for (const std::uint32_t route : component_) states_[route].kept = keeps_;
  for (const std::uint32_t id : component_resources_) {
    Resource& resource = resources_[id];
    resource.left = resource.capacity;
    resource.degree = resource.active;
    if (keeps_) filled_[id].clear();
  }
  if (keeps_) ends_known_ = false;
}

void FlowNetwork::sort_component() {
  if (component_.size() * 8 < bitmap_.size()) {
    std::sort(component_.begin(), component_.end());
    return;
  }
  for (const std::uint32_t route : component_) bitmap_[route / 64] |= std::uint64_t{1} << (route % 64);
  std::size_t out = 0;
  for (std::size_t word = 0; word < bitmap_.size(); ++word) {
    for (std::uint64_t bits = std::exchange(bitmap_[word], 0); bits != 0; bits &= bits - 1) {
      component_[out++] = static_cast<std::uint32_t>(word * 64 + static_cast<unsigned>(std::countr_zero(bits)));
    }
  }
}

/// The lambda at which the resource is full. Requires an unfixed route on it.
double FlowNetwork::level(const Resource& resource) const { return std::max(resource.left, 0.0) / resource.sum; }

/// Gives the route its final rate and takes it out of its resources' sums.
void FlowNetwork::fix(std::uint32_t route, double rate, double lambda) {
  new_rate_[route] = rate;
  if (keeps_) states_[route].lambda = lambda;
  --unfixed_;
  const double flows = states_[route].flows, weight = fixed_[route].weight;
  for (const RouteUse& use : uses(route)) {
    Resource& resource = resources_[use.resource];
    if (keeps_) filled_[use.resource].push_back({route, resource.left});
    resource.left -= use.load * flows * rate;
    resource.sum -= use.load * flows * weight;
    --resource.unfixed;
  }
}

/// members_: for each resource of the component its routes, in the order of their ids.
void FlowNetwork::index_members() {
  std::uint32_t total = 0;
  for (const std::uint32_t id : component_resources_) {
    resources_[id].members = total;
    total += resources_[id].degree;
  }
  members_.resize(total);
  for (const std::uint32_t route : component_) {
    for (const RouteUse& use : uses(route)) members_[resources_[use.resource].members++] = route;
  }
  for (const std::uint32_t id : component_resources_) resources_[id].members -= resources_[id].degree;
}

/// Progressive filling of the component gathered last, from lambda `floor` on: of each resource `left` is there for its
/// `degree` routes.
void FlowNetwork::solve(Time now, double floor) {
  for (const std::uint32_t id : component_resources_) {
    Resource& resource = resources_[id];
    resource.sum = 0;
    resource.available = resource.left;
    resource.unfixed = resource.degree;
  }
  limits_.clear();
  for (const std::uint32_t route : component_) {
    const Fixed& fixed = fixed_[route];
    const double flows = states_[route].flows;
    for (const RouteUse& use : uses(route)) resources_[use.resource].sum += use.load * flows * fixed.weight;
    if (fixed.limit != kInfinity) limits_.push_back({fixed.limit / fixed.weight, route});
    new_rate_[route] = -1;
  }
  levels_.clear();
  double lowest = kInfinity, highest = 0;
  for (const std::uint32_t id : component_resources_) {
    Resource& resource = resources_[id];
    resource.whole = resource.sum;
    const double lambda = level(resource);
    levels_.push_back({lambda, id});
    lowest = std::min(lowest, lambda);
    highest = std::max(highest, lambda);
  }

  const bool limited = !limits_.empty();
  if (!limited && highest <= lowest * (1 + kSameRate)) {  // all resources fill at once: one rate for all
    for (const std::uint32_t route : component_) {
      set_rate(route, lowest * fixed_[route].weight, now);
      if (!keeps_) continue;
      states_[route].lambda = lowest;
      for (const RouteUse& use : uses(route)) {
        filled_[use.resource].push_back({route, resources_[use.resource].available});
      }
    }
    return;
  }

  index_members();
  std::make_heap(levels_.begin(), levels_.end(), kHigher);
  std::sort(limits_.begin(), limits_.end(), [](const Level& a, const Level& b) { return kHigher(b, a); });
  std::size_t next_limit = 0;
  double lambda = floor;
  unfixed_ = component_.size();
  // A level only rises while others are fixed, so a level once computed is a lower bound: the smallest is taken,
  // computed anew, and put back if it has risen.
  while (unfixed_ != 0) {
    while (!levels_.empty() && resources_[levels_.front().resource].unfixed == 0) {
      std::pop_heap(levels_.begin(), levels_.end(), kHigher);
      levels_.pop_back();
    }
    while (next_limit < limits_.size() && new_rate_[limits_[next_limit].resource] >= 0) ++next_limit;

    const double full = levels_.empty() ? kInfinity : levels_.front().lambda;
    if (next_limit < limits_.size() && limits_[next_limit].lambda <= full) {
      const std::uint32_t route = limits_[next_limit++].resource;
      lambda = std::max(lambda, fixed_[route].limit / fixed_[route].weight);
      fix(route, fixed_[route].limit, lambda);
      continue;
    }
    if (levels_.empty()) throw std::logic_error("a flow that nothing limits");

    const Level top = levels_.front();
    Resource& resource = resources_[top.resource];
    if (resource.sum < 1e-6 * resource.whole) {  // what is left of the sum would be mostly rounding: add it up anew
      resource.sum = 0;
      resource.left = resource.available;
      for (std::uint32_t m = 0; m < resource.degree; ++m) {
        const std::uint32_t route = members_[resource.members + m];
        for (const RouteUse& use : uses(route)) {
          if (use.resource != top.resource) continue;
          const double taken = use.load * states_[route].flows;
          if (new_rate_[route] < 0) {
            resource.sum += taken * fixed_[route].weight;
          } else {
            resource.left -= taken * new_rate_[route];
          }
        }
      }
      resource.whole = resource.sum;
    }
    const double current = std::max(level(resource), lambda);
    if (current > top.lambda * (1 + kSameRate)) {
      std::pop_heap(levels_.begin(), levels_.end(), kHigher);
      levels_.back().lambda = current;
      std::push_heap(levels_.begin(), levels_.end(), kHigher);
      continue;
    }
    // Levels a rounding apart are one level: keep the lambda of the first.
    if (!(top.lambda <= lambda * (1 + kSameRate))) lambda = top.lambda;
    for (std::uint32_t m = 0; m < resource.degree; ++m) {
      const std::uint32_t route = members_[resource.members + m];
      if (new_rate_[route] < 0) fix(route, lambda * fixed_[route].weight, lambda);
    }
  }
  for (const std::uint32_t route : component_) set_rate(route, new_rate_[route], now);
}

}  // namespace stepcast::sim
