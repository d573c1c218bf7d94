// The rates of FlowNetwork: which routes to look at together, and the filling of their resources.

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "sim/flow_network.h"

namespace stepcast::sim {
namespace {

// Earliest level first; the id decides between equals, so that the order never depends on history.
constexpr auto kHigher = [](const auto& a, const auto& b) {
  return a.lambda > b.lambda || (a.lambda == b.lambda && a.resource > b.resource);
};

}  // namespace

void FlowNetwork::join(std::uint32_t route) {
  State& state = states_[route];
  if (state.solved == instant_) return;
  state.solved = instant_;
  component_.push_back(route);
}

/// All routes joined to this one by shared resources, in the order of their ids: sums over them are then the same
/// whatever the history.
void FlowNetwork::gather(std::uint32_t seed) {
  component_.clear();
  component_resources_.clear();
  join(seed);
  for (std::size_t done = 0; done < component_.size(); ++done) {
    uses(component_[done]).each([&](const Use& use) {
      Resource& resource = resources_[index(use.resource)];
      if (resource.seen == instant_) return;
      resource.seen = instant_;
      component_resources_.push_back(index(use.resource));
      for (const std::uint32_t route : active_on(resource)) join(route);
    });
  }
  sort_component();
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

/// What the bottleneck of a route that has been fixed gives it.
double FlowNetwork::fixed_rate(std::uint32_t route) const {
  const std::uint32_t bottleneck = states_[route].bottleneck;
  return bottleneck < resources_.size() ? resources_[bottleneck].lambda * weight(route) : limit(route);
}

/// Gives the route its final rate, which this bottleneck decides, and takes it out of its resources' sums.
void FlowNetwork::fix(std::uint32_t route, std::uint32_t bottleneck) {
  states_[route].bottleneck = bottleneck;
  const double rate = fixed_rate(route);
  --unfixed_;
  const double flows = states_[route].flows;
  for (const Use& use : uses(route)) {
    Resource& resource = resources_[index(use.resource)];
    resource.left -= use.load * flows * rate;
    resource.sum -= use.load * flows * weight(route);
    --resource.unfixed;
  }
}

/// members_: for each resource of the component its routes, in the order of their ids.
void FlowNetwork::index_members() {
  std::uint32_t total = 0;
  for (const std::uint32_t id : component_resources_) {
    resources_[id].members = total;
    total += resources_[id].active;
  }
  members_.resize(total);
  for (const std::uint32_t route : component_) {
    for (const Use& use : uses(route)) members_[resources_[index(use.resource)].members++] = route;
  }
  for (const std::uint32_t id : component_resources_) resources_[id].members -= resources_[id].active;
}

void FlowNetwork::fill_at_once(double lambda, Time now) {
  for (const std::uint32_t id : component_resources_) resources_[id].lambda = lambda;
  for (const std::uint32_t route : component_) {
    states_[route].bottleneck = index(uses(route).front().resource);
    set_rate(route, lambda * weight(route), now);
  }
}

void FlowNetwork::add_up(std::uint32_t id) {
  Resource& resource = resources_[id];
  resource.sum = 0;
  resource.left = resource.capacity;
  for (std::uint32_t m = 0; m < resource.active; ++m) {
    const std::uint32_t route = members_[resource.members + m];
    for (const Use& use : uses(route)) {
      if (index(use.resource) != id) continue;
      const double taken = use.load * states_[route].flows;
      if (!fixed(route)) {
        resource.sum += taken * weight(route);
      } else {
        resource.left -= taken * fixed_rate(route);
      }
    }
  }
  resource.whole = resource.sum;
}

void FlowNetwork::share(Time now) {
  if (component_.size() > KnownRates::kMostRoutes) {
    solve(now);
    return;
  }
  key_.clear();
  for (const std::uint32_t route : component_) key_.push_back({route, states_[route].flows});
  if (const std::span<const double> known = known_rates_.find(key_); !known.empty()) {
    for (std::size_t i = 0; i < known.size(); ++i) set_rate(component_[i], known[i], now);
    return;
  }
  solve(now);
  shared_rates_.clear();
  for (const std::uint32_t route : component_) shared_rates_.push_back(fixed_rate(route));
  known_rates_.remember(key_, shared_rates_);
}

/// Progressive filling of the component gathered last.
void FlowNetwork::solve(Time now) {
  for (const std::uint32_t id : component_resources_) {
    Resource& resource = resources_[id];
    resource.sum = 0;
    resource.left = resource.capacity;
    resource.unfixed = resource.active;
  }
  limits_.clear();
  for (const std::uint32_t route : component_) {
    const double flows = states_[route].flows;
    for (const Use& use : uses(route)) resources_[index(use.resource)].sum += use.load * flows * weight(route);
    if (limit(route) != kInfinity) limits_.push_back({limit(route) / weight(route), route});
    states_[route].bottleneck = kNone;
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
    fill_at_once(lowest, now);
    return;
  }

  index_members();
  std::make_heap(levels_.begin(), levels_.end(), kHigher);
  std::sort(limits_.begin(), limits_.end(), [](const Level& a, const Level& b) { return kHigher(b, a); });
  std::size_t next_limit = 0;
  double lambda = 0;
  unfixed_ = component_.size();
  // A level only rises while others are fixed, so a level once computed is a lower bound: the smallest is taken,
  // computed anew, and put back if it has risen.
  while (unfixed_ != 0) {
    while (!levels_.empty() && resources_[levels_.front().resource].unfixed == 0) {
      std::pop_heap(levels_.begin(), levels_.end(), kHigher);
      levels_.pop_back();
    }
    while (next_limit < limits_.size() && fixed(limits_[next_limit].resource)) ++next_limit;

    const double full = levels_.empty() ? kInfinity : levels_.front().lambda;
    if (next_limit < limits_.size() && limits_[next_limit].lambda <= full) {
      const std::uint32_t route = limits_[next_limit++].resource;
      lambda = std::max(lambda, limit(route) / weight(route));
      fix(route, limiter(route));
      continue;
    }
    if (levels_.empty()) throw std::logic_error("a flow that nothing limits");

    const Level top = levels_.front();
    Resource& resource = resources_[top.resource];
    if (resource.sum < 1e-6 * resource.whole) {  // what is left of the sum would be mostly rounding: add it up anew
      add_up(top.resource);
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
    resource.lambda = lambda;
    for (std::uint32_t m = 0; m < resource.active; ++m) {
      const std::uint32_t route = members_[resource.members + m];
      if (!fixed(route)) fix(route, top.resource);
    }
  }
  empty(members_);
  for (const std::uint32_t route : component_) set_rate(route, fixed_rate(route), now);
}

}  // namespace stepcast::sim
