// The rates of FlowNetwork: which routes to look at together, and the filling of their resources.

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "sim/flow_network.h"

namespace stepcast::sim {
namespace {

// A component of so many routes, and of such a part of all, is large: what it keeps is worth it.
constexpr std::size_t kLarge = 256, kLargePart = 16;

// Earliest level first; the id decides between equals, so that the order never depends on history.
constexpr auto kHigher = [](const auto& a, const auto& b) {
  return a.lambda > b.lambda || (a.lambda == b.lambda && a.resource > b.resource);
};

}  // namespace

/// Grows the component from a route: at each resource met first, `visit` joins what belongs to it.
template <class Visit>
void FlowNetwork::spread(std::uint32_t seed, Visit visit) {
  component_.clear();
  component_resources_.clear();
  join(seed);
  for (std::size_t done = 0; done < component_.size(); ++done) {
    for (const RouteUse& use : uses(component_[done])) {
      Resource& resource = resources_[use.resource];
      if (resource.seen == instant_) continue;
      resource.seen = instant_;
      component_resources_.push_back(use.resource);
      visit(resource, use.resource);
    }
  }
  sort_component();
}

void FlowNetwork::join(std::uint32_t route) {
  State& state = states_[route];
  if (state.solved == instant_) return;
  state.solved = instant_;
  component_.push_back(route);
}

/// All routes joined to this one by shared resources, in the order of their ids: sums over them are then the same
/// whatever the history.
void FlowNetwork::gather(std::uint32_t seed) {
  spread(seed, [&](const Resource& resource, std::uint32_t) {
    for (std::uint32_t u = resource.first; u != kNone; u = uses_[u].next) join(uses_[u].route);
  });
}

/// Those of them that were fixed at the floor or later; takes them off the resources' orders, down to what is left
/// there for them.
void FlowNetwork::gather_again(std::uint32_t seed, double floor) {
  spread(seed, [&](Resource& resource, std::uint32_t id) {
    resource.degree = 0;
    for (std::vector<Filled>& filled = filled_[id]; !filled.empty(); filled.pop_back()) {
      const State& state = states_[filled.back().route];
      if (state.flows != 0) {
        if (state.lambda < floor) break;
        ++resource.degree;
        join(filled.back().route);
      }
      resource.left = filled.back().left;
    }
  });
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

void FlowNetwork::fill_at_once(double lambda, Time now) {
  for (const std::uint32_t route : component_) {
    set_rate(route, lambda * fixed_[route].weight, now);
    if (!keeps_) continue;
    states_[route].lambda = lambda;
    for (const RouteUse& use : uses(route)) {
      filled_[use.resource].push_back({route, resources_[use.resource].available});
    }
  }
}

void FlowNetwork::add_up(std::uint32_t id) {
  Resource& resource = resources_[id];
  resource.sum = 0;
  resource.left = resource.available;
  for (std::uint32_t m = 0; m < resource.degree; ++m) {
    const std::uint32_t route = members_[resource.members + m];
    for (const RouteUse& use : uses(route)) {
      if (use.resource != id) continue;
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
    fill_at_once(lowest, now);
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
    for (std::uint32_t m = 0; m < resource.degree; ++m) {
      const std::uint32_t route = members_[resource.members + m];
      if (new_rate_[route] < 0) fix(route, lambda * fixed_[route].weight, lambda);
    }
  }
  for (const std::uint32_t route : component_) set_rate(route, new_rate_[route], now);
}

}  // namespace stepcast::sim
