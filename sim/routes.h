#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "sim/distinct_lists.h"
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
constexpr std::uint32_t number_of(const Use& use) { return index(use.resource); }

/// What a flow crosses. Flows that meet share each resource max-min fairly: rates grow together in
/// proportion to `weight` until a resource is full or a flow reaches its own `limit`.
struct Route {
  std::vector<Use> uses{};                                   ///< empty: only latency and limit count
  Time latency{};                                            ///< before the first byte moves
  Bandwidth limit{std::numeric_limits<double>::infinity()};  ///< the most one flow can reach alone
  double weight = 1.0;
};

/// What one route uses: one list behind another.
class Uses {
 public:
  class Iterator {
   public:
    using value_type = Use;
    using difference_type = std::ptrdiff_t;
    Iterator() = default;
    /// At the first of `left` uses, of which so many stand in front of the second list.
    Iterator(const Use* at, std::size_t in_first, const Use* second, std::size_t left)
        : at_(at), in_first_(in_first), second_(second), left_(left) {}
    const Use& operator*() const { return *at_; }
    const Use* operator->() const { return at_; }
    Iterator& operator++() {
      at_ = --in_first_ == 0 ? second_ : at_ + 1;
      --left_;
      return *this;
    }
    Iterator operator++(int) {
      const Iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.left_ == b.left_; }

   private:
    const Use* at_ = nullptr;
    std::size_t in_first_ = 0;
    const Use* second_ = nullptr;
    std::size_t left_ = 0;
  };

  Uses(std::span<const Use> first, std::span<const Use> second) : first_(first), second_(second) {}
  Iterator begin() const {
    return {first_.empty() ? second_.data() : first_.data(), first_.size(), second_.data(), size()};
  }
  Iterator end() const { return {nullptr, 0, nullptr, 0}; }
  std::size_t size() const { return first_.size() + second_.size(); }
  bool empty() const { return size() == 0; }
  const Use& front() const { return *begin(); }
  /// Calls see(use) for each, as a loop over them does, in less time.
  template <class See>
  void each(const See& see) const {
    for (const Use& use : first_) see(use);
    for (const Use& use : second_) see(use);
  }

 private:
  std::span<const Use> first_, second_;
};

/// Many routes in a row. The first half of what a route uses it has in common with many others, and so the second: each
/// such half is stored once, and a route takes 16 bytes. Copies share it all, so that the same ways at other rates cost
/// next to nothing.
class Routes {
 public:
  class UsesReader;
  /// What many routes have in common.
  struct Terms {
    Time latency{};
    Bandwidth limit{};
    double weight = 1.0;
    friend bool operator==(const Terms&, const Terms&) = default;
  };
  /// A route as it is stored. Valid until the next add().
  struct Stored {
    Uses uses;
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

 private:
  struct PackedRoute {
    std::uint32_t uses = 0;               // how many; of an odd number the first half has one more
    std::uint32_t first = 0, second = 0;  // where the halves begin
    std::uint32_t terms = 0;              // which of Routes::terms_
  };

 public:
  class UsesReader {
   public:
    UsesReader(const PackedRoute* ways, const Use* uses) : ways_(ways), uses_(uses) {}
    Uses operator[](std::size_t i) const {
      const PackedRoute& way = ways_[i];
      return {{uses_ + way.first, (way.uses + 1) / 2}, {uses_ + way.second, way.uses / 2}};
    }

   private:
    const PackedRoute* ways_;
    const Use* uses_;
  };

  void add(std::span<const Use> uses, const Terms& terms);

  void reserve(std::size_t routes) { own().routes.reserve(routes); }

  /// The same ways, with change(Terms) of the terms.
  template <class Change>
  Routes changed(Change change) const {
    Routes other = *this;
    for (Terms& terms : other.terms_) terms = change(terms);
    return other;
  }

  std::size_t size() const { return ways_->routes.size(); }
  bool empty() const { return size() == 0; }
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }

  Stored operator[](std::size_t i) const {
    const Terms& terms = this->terms(i);
    return {uses(i), terms.latency, terms.limit, terms.weight};
  }
  Uses uses(std::size_t i) const { return reader()[i]; }
  Time latency(std::size_t i) const { return terms(i).latency; }
  Bandwidth limit(std::size_t i) const { return terms(i).limit; }
  double weight(std::size_t i) const { return terms(i).weight; }

  /// For whoever asks for uses very often. Valid until the next add().
  UsesReader reader() const { return {ways_->routes.data(), ways_->halves.all().data()}; }
  /// Every use that some route has. Of several routes it may be one.
  std::span<const Use> all_uses() const { return ways_->halves.all(); }
  /// Of memory, also where others share it.
  std::size_t bytes() const {
    return terms_.size() * sizeof(Terms) + size() * sizeof(PackedRoute) + ways_->halves.bytes();
  }

 private:
  struct Ways {
    std::vector<PackedRoute> routes;
    DistinctLists<Use> halves;
  };
  const Terms& terms(std::size_t i) const { return terms_[ways_->routes[i].terms]; }
  /// Ways that no copy shares.
  Ways& own();
  std::uint32_t number_of(const Terms& terms);

  std::shared_ptr<Ways> ways_ = std::make_shared<Ways>();
  std::vector<Terms> terms_;
};

}  // namespace stepcast::sim
