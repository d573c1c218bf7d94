#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stepcast::sim {

/// What small components of a flow network were given when they were solved. The rates of a component follow from its
/// routes and how many flows each has, and a pipeline brings the same few together again and again.
class KnownRates {
 public:
  /// Of so many routes at most.
  static constexpr std::size_t kMostRoutes = 16;

  struct RouteFlows {
    std::uint32_t route = 0, flows = 0;
    friend bool operator==(const RouteFlows&, const RouteFlows&) = default;
  };

  /// By its routes in the order of their ids; valid until the next call. Empty: not known. O(routes).
  std::span<const double> find(std::span<const RouteFlows> routes);
  /// What the component has got that was last looked for, and not found. O(routes).
  void remember(std::span<const RouteFlows> routes, std::span<const double> rates);

 private:
  static constexpr std::uint32_t kNone = 0xffffffffu;
  static constexpr std::size_t kPlaces = 4096;  // a power of two
  /// Where no component comes twice, no more than these are kept.
  static constexpr std::size_t kMostComponents = kPlaces / 2;

  struct Component {
    std::uint64_t hash = 0;
    std::uint32_t first = 0, routes = 0;  // in routes_ and rates_
  };

  std::uint64_t hash_ = 0;             // of the component last looked for
  std::size_t place_ = 0;              // of it, in places_
  std::vector<std::uint32_t> places_;  // components by hash, open addressing; made at first use
  std::vector<Component> components_;
  std::vector<RouteFlows> routes_;
  std::vector<double> rates_;  // as routes_
};

}  // namespace stepcast::sim
