#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/routes.h"
#include "sim/units.h"

namespace stepcast::sim {

enum class StreamId : std::uint32_t {};
enum class TaskId : std::uint32_t {};

/// Bytes over a route.
struct RoutedBytes {
  RouteId route{};
  Bytes bytes{};
  friend bool operator==(const RoutedBytes&, const RoutedBytes&) = default;
};

/// A part of a sequence: work, and beside it transfers one behind the other. It ends when both have.
struct Leg {
  Time work{};
  std::vector<RoutedBytes> transfers{};
  friend bool operator==(const Leg&, const Leg&) = default;
};

enum class SequenceId : std::uint32_t {};

/// Everything that takes time, lowered to one graph: work on streams, bytes over routes, and what each
/// comes after. A stream runs its tasks one at a time in the order they were added; a task may sit on
/// several streams (a collective on the streams of all its ranks) or on none. Pure data: sim/executor.h runs it.
class TaskGraph {
 public:
  StreamId add_stream();
  ResourceId add_resource(Bandwidth capacity);  ///< requires a positive, finite capacity

  /// Requires existing resources, positive loads, limit and weight. A resource named twice is one use with the sum of
  /// the loads.
  RouteId add_route(const Route& route);

  /// All of a graph's routes at once, which are numbered as they stand there and shared with whoever has them too.
  /// Requires that there are none yet, and routes as add_route() makes them, which name a resource once.
  void set_routes(Routes routes);

  /// Occupies its streams for `duration` (>= 0). `tag` is the caller's: what the task is, for the timeline.
  TaskId work(std::span<const StreamId> streams, Time duration, std::uint32_t tag = 0);
  TaskId work(StreamId stream, Time duration, std::uint32_t tag = 0) {
    return work(std::span(&stream, 1), duration, tag);
  }

  /// Waits the route's latency, then moves `bytes` (>= 0) over it at the fair rate. Occupies its streams all the while.
  TaskId transfer(std::span<const StreamId> streams, RouteId route, Bytes bytes, std::uint32_t tag = 0);
  TaskId transfer(StreamId stream, RouteId route, Bytes bytes, std::uint32_t tag = 0) {
    return transfer(std::span(&stream, 1), route, bytes, tag);
  }
  TaskId transfer(RouteId route, Bytes bytes, std::uint32_t tag = 0) {
    return transfer(std::span<const StreamId>{}, route, bytes, tag);
  }

  /// Legs one after the other, as a task to be. Requires existing routes, no negative work and bytes. O(legs).
  SequenceId add_sequence(std::vector<Leg> legs);
  /// The legs, for which nobody outside waits but for the last. Occupies its streams all the while. The same as work
  /// and transfers that come after each other, and where the transfers meet no other one event (sim/sequences.h).
  TaskId sequence(std::span<const StreamId> streams, SequenceId sequence, std::uint32_t tag = 0);

  /// Work takes so much longer. Requires a task of work.
  void prolong(TaskId work, Time more);

  /// `later` starts no earlier than `earlier` has ended. Either may have been added first.
  void after(TaskId later, TaskId earlier);

  /// What is known of a route only later: what else it crosses, before what it crosses already, and how many bytes each
  /// of its transfers moves. It weighs what `over` does. A route is named once at most. O(all routes and tasks).
  struct Bound {
    RouteId route{};
    Route over;
    Bytes bytes{};
  };
  void bind(std::span<const Bound> routes);
  /// In sequences, these come behind each transfer over `route`, one behind the other. `more`: by route, of which there
  /// may be fewer. O(all sequences).
  void follow(std::span<const std::vector<RoutedBytes>> more);

  void reserve(std::size_t tasks, std::size_t dependencies);
  void reserve_routes(std::size_t routes) { routes_.reserve(routes); }

  struct Task {
    std::int64_t amount = 0;   ///< picoseconds of work, bytes of a transfer, or which of the sequences
    RouteId route = kNoRoute;  ///< kNoRoute: work; kLegs: a sequence
    std::uint32_t tag = 0;
  };
  static constexpr RouteId kNoRoute{0xffffffffu}, kLegs{0xfffffffeu};
  struct Dependency {
    TaskId earlier{}, later{};
  };

  std::span<const Task> tasks() const { return tasks_; }
  std::span<const Dependency> dependencies() const { return dependencies_; }  ///< streams' order included
  std::span<const std::vector<Leg>> sequences() const { return sequences_; }
  const Routes& routes() const { return routes_; }
  std::span<const Bandwidth> resources() const { return resources_; }
  std::uint32_t streams() const { return static_cast<std::uint32_t>(last_on_stream_.size()); }

 private:
  TaskId add(std::span<const StreamId> streams, Task task);
  void check(const Route& route) const;
  void store(const Route& route);

  static constexpr std::uint32_t kNone = 0xffffffffu;
  std::vector<Task> tasks_;
  std::vector<Dependency> dependencies_;
  std::vector<std::vector<Leg>> sequences_;
  Routes routes_;
  std::vector<Bandwidth> resources_;
  std::vector<std::uint32_t> last_on_stream_;
  std::vector<Use> uses_;             // scratch of store()
  std::vector<std::uint32_t> place_;  // likewise: of a resource, in uses_
};

}  // namespace stepcast::sim
