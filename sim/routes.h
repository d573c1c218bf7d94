#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "sim/units.h"

namespace stepcast::sim {

enum class ResourceId : std::uint32_t {};
enum class RouteId : std::uint32_t {};

template <class Id>
constexpr std::uint32_t index(Id id) {
  return static_cast<std::uint32_t>(id);
}

/// A flow's use of one resource: `load` units of it per byte the flow moves. 1 for a plain flow,
/// k where k like flows have been folded into this one, a fraction where a flow spreads over parallel links.
struct Use {
  ResourceId resource{};
  double load = 1.0;
  friend bool operator==(const Use&, const Use&) = default;
};

/// What a flow crosses. Flows that meet share each resource max-min fairly: rates grow together in
/// proportion to `weight` until a resource is full or a flow reaches its own `limit`.
struct Route {
  std::vector<Use> uses{};                                   ///< empty: only latency and limit count
  Time latency{};                                            ///< before the first byte moves
  Bandwidth limit{std::numeric_limits<double>::infinity()};  ///< the most one flow can reach alone
  double weight = 1.0;
};

/// Many routes in a row: 32 bytes for each and 16 for each use, where a Route takes 64 and an allocation.
class Routes {
 public:
  /// A route as it is stored. Valid until the next add().
  struct Stored {
    std::span<const Use> uses;
    Time latency{};
    Bandwidth limit{};
    double weight = 1.0;
    operator Route() const { return {{uses.begin(), uses.end()}, latency, limit, weight}; }
  };

  class Iterator {
   public:
    Iterator(const Routes& routes, std::size_t at) : routes_(&routes), at_(at) {}
    Stored operator*() const { return (*routes_)[at_]; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    const Routes* routes_;
    std::size_t at_;
  };

  void add(std::span<const Use> uses, Time latency, Bandwidth limit, double weight) {
    records_.push_back({uses_.size(), latency, limit, weight});
    uses_.insert(uses_.end(), uses.begin(), uses.end());
  }

  void reserve(std::size_t routes, std::size_t uses) {
    records_.reserve(routes);
    uses_.reserve(uses);
  }

  std::size_t size() const { return records_.size(); }
  std::size_t bytes() const { return records_.size() * sizeof(Record) + uses_.size() * sizeof(Use); }  ///< of memory
  bool empty() const { return records_.empty(); }
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }

  Stored operator[](std::size_t i) const {
    const Record& record = records_[i];
    return {{uses_.data() + record.first, uses_.data() + first_after(i)}, record.latency, record.limit, record.weight};
  }
  double weight(std::size_t i) const { return records_[i].weight; }

  /// The uses of all routes, route after route, and where those of route i begin there.
  std::span<const Use> uses() const { return uses_; }
  std::size_t first_use(std::size_t i) const { return records_[i].first; }

 private:
  struct Record {
    std::size_t first = 0;  // into uses_
    Time latency{};
    Bandwidth limit{};
    double weight = 1.0;
  };
  std::size_t first_after(std::size_t i) const {
    return i + 1 < records_.size() ? records_[i + 1].first : uses_.size();
  }

  std::vector<Record> records_;
  std::vector<Use> uses_;
};

}  // namespace stepcast::sim
