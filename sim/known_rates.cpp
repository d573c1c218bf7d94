#include "sim/known_rates.h"

#include <algorithm>

#include "sim/distinct_lists.h"

namespace stepcast::sim {

std::span<const double> KnownRates::find(std::span<const RouteFlows> routes) {
  if (places_.empty()) places_.assign(kPlaces, kNone);
  std::uint64_t hash = routes.size();
  for (const RouteFlows& route : routes) hash = scramble(hash ^ (std::uint64_t{route.route} << 32 | route.flows));
  hash_ = hash;
  for (place_ = hash % kPlaces; places_[place_] != kNone; place_ = (place_ + 1) % kPlaces) {
    const Component& known = components_[places_[place_]];
    if (known.hash == hash && std::ranges::equal(std::span(routes_).subspan(known.first, known.routes), routes))
      return std::span(rates_).subspan(known.first, known.routes);
  }
  return {};
}

void KnownRates::remember(std::span<const RouteFlows> routes, std::span<const double> rates) {
  if (components_.size() == kMostComponents) {
    std::ranges::fill(places_, kNone);
    components_.clear();
    routes_.clear();
    rates_.clear();
    place_ = hash_ % kPlaces;
  }
  places_[place_] = static_cast<std::uint32_t>(components_.size());
  components_.push_back({hash_, static_cast<std::uint32_t>(routes_.size()), static_cast<std::uint32_t>(routes.size())});
  routes_.insert(routes_.end(), routes.begin(), routes.end());
  rates_.insert(rates_.end(), rates.begin(), rates.end());
}

}  // namespace stepcast::sim
