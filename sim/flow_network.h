#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "sim/task_graph.h"
#include "sim/units.h"

namespace stepcast::sim {

/// Fluid flows that share resources by weighted max-min fairness.
///
/// A flow f on a route moves bytes at rate r_f. On every resource l, the sum over flows of load_fl * r_f is at most
/// the capacity. Rates come from progressive filling: r_f = lambda * weight_f, lambda growing for all flows together,
/// until a flow reaches its limit or one of its resources is full; such a flow keeps its rate and the others go on
/// (Bertsekas and Gallager, Data Networks, 2nd ed., section 6.5.2, with weights and loads).
///
/// Flows on one route always have one rate, so the network keeps one progress per route (bytes moved by each of its
/// flows) and a flow ends when the progress has grown by its bytes: a change of rate costs one update per route, not
/// one per flow. Starts and ends at one picosecond are only noted; settle() then solves each touched connected
/// component (routes joined by shared resources) once.
///
/// Flows that leave a large component change nothing of those that filling fixed at a lower lambda than theirs: then
/// only the part of the filling from there on is done again. Of many flows that start together the fastest end first,
/// so that is a small part.
///
/// Who calls: an event loop with a non-decreasing clock. At each instant: any number of expire() and start(), then
/// one settle(). The rates do not depend on the order of the calls within the instant.
class FlowNetwork {
 public:
  /// expire(route) is to be called at `at`.
  struct Due {
    RouteId route{};
    Time at{};
  };

  /// Routes use existing resources only (TaskGraph guarantees it). O(uses).
  FlowNetwork(std::span<const Bandwidth> resources, std::span<const Route> routes);

  /// A flow begins at the instant that the coming settle() ends; `flow` is the caller's name for it. Requires
  /// bytes > 0 and a route that something limits (see unbounded()). The route's latency is the caller's. O(1) here;
  /// O(uses) and O(log flows on this route) in settle().
  void start(std::uint32_t flow, RouteId route, Bytes bytes) { starts_.push_back({bytes, flow, route}); }

  /// Solves what the starts and ends of this instant touched. Returns the calls of expire() to plan, each later than
  /// `now`; valid until the next call. Only the routes that end first in their component are in it: when they end,
  /// the component is solved again. O(uses of the touched components, or of their part that is filled again), O(1) for
  /// a route alone on its resources.
  std::span<const Due> settle(Time now);

  /// A planned time has come: ends the flows of this route that end now and appends their names. A call whose plan
  /// has been overtaken does nothing; where the end has moved later, the answer is the time to call again.
  std::optional<Time> expire(RouteId route, Time now, std::vector<std::uint32_t>& ended);

  /// A route that nothing limits: its flows take no time at all and must not be started.
  bool unbounded(RouteId route) const { return fixed_[index(route)].alone == kInfinity; }

  /// What each flow on the route gets since the last settle(). 0 for an idle route.
  Bandwidth rate(RouteId route) const { return {states_[index(route)].rate}; }

  /// Flows on the route since the last settle().
  std::uint32_t flows(RouteId route) const { return states_[index(route)].flows; }

 private:
  static constexpr std::uint32_t kNone = 0xffffffffu;
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static constexpr Time kNever{-1};
  /// Two rates closer than this are one: symmetric flows must not differ by the rounding of a sum.
  static constexpr double kSameRate = 1e-12;

  struct Start {
    Bytes bytes{};
    std::uint32_t flow = 0;
    RouteId route{};
  };
  struct Fixed {             // per route, never changes
    std::uint32_t uses = 0;  // first in uses_; the next route's is the end
    double weight = 1;
    double limit = 0;  // bytes per second; infinite where some resource alone allows no more
    double alone = 0;  // the rate of one flow with no other anywhere
  };
  struct Flow {
    double target = 0;  // ends when the route's progress is this
    std::uint32_t name = 0;
  };
  struct State {          // per route
    double progress = 0;  // bytes moved by a flow on this route since it was last idle, at time `since`
    Time since{};
    double rate = 0;     // bytes per second
    Time due = kNever;   // when the head ends at this rate; kNever: to be computed
    Time wake = kNever;  // the earliest call of expire() that is planned
    Flow head;           // the flow that ends first
    std::uint32_t flows = 0;
    std::uint32_t others = kNone;  // into heaps_: the flows behind the head
    std::uint32_t touched = 0;     // the instant that has it in touched_routes_
    std::uint32_t solved = 0;      // the instant that has it in a component
    double lambda = 0;             // at which filling fixed it, if kept
    bool kept = false;             // its component is large: its resources keep the order in which they were filled
  };
  struct RouteUse {
    double load = 1;
    std::uint32_t resource = 0;
    std::uint32_t next = kNone, previous = kNone;  // the other routes active on this resource
    std::uint32_t route = 0;
  };
  struct Resource {
    double capacity = 0;
    std::uint32_t first = kNone;  // into uses_: the routes active here
    std::uint32_t active = 0;
    std::uint32_t seen = 0;     // the instant that has it in a component
    std::uint32_t members = 0;  // where its routes start in members_
    double sum = 0, whole = 0;  // load * weight * flows of the routes not yet fixed, and of all
    double available = 0;       // capacity minus what routes take that the solve does not look at
    double left = 0;            // that minus what the fixed routes take
    std::uint32_t unfixed = 0;
    std::uint32_t degree = 0;
  };
  struct Filled {  // of a resource: a route that was fixed, and what was left before
    std::uint32_t route = 0;
    double left = 0;
  };
  struct End {
    Time at{};
    std::uint32_t route = 0;
  };
  struct Level {
    double lambda = 0;
    std::uint32_t resource = 0;
  };

  std::span<RouteUse> uses(std::uint32_t route) {
    return {uses_.data() + fixed_[route].uses, uses_.data() + fixed_[route + 1].uses};
  }
  void add(const Start& start, Time now);
  void touch(std::uint32_t route);
  void link(std::uint32_t route);
  void unlink(std::uint32_t route);
  void advance(State& state, Time now);
  Time end_of(const State& state, double target) const;
  void set_rate(std::uint32_t route, double rate, Time now);
  void plan(std::uint32_t route);
  void plan_component();
  void consider(std::uint32_t route, Time now);
  void leaves(const State& state) { floor_ = std::min(floor_, state.kept ? state.lambda : 0); }
  void consider_again(std::uint32_t resource, Time now);
  template <class Visit>
  void spread(std::uint32_t seed, Visit visit);
  void join(std::uint32_t route);
  void gather(std::uint32_t seed);
  void gather_again(std::uint32_t seed, double floor);
  void sort_component();
  void keep_component();
  void solve(Time now, double floor);
  /// All resources fill at once: every route gets `lambda` times its weight.
  void fill_at_once(double lambda, Time now);
  /// The sum over a resource's routes and what is left of it, added up from its members.
  void add_up(std::uint32_t id);
  void plan_ends();
  void index_members();
  void fix(std::uint32_t route, double rate, double lambda);
  double level(const Resource& resource) const;

  std::vector<Fixed> fixed_;
  std::vector<State> states_;
  std::vector<RouteUse> uses_;
  std::vector<Resource> resources_;
  std::vector<std::vector<Flow>> heaps_;

  std::uint32_t instant_ = 1;
  std::vector<Start> starts_;  // of this instant: all ends come first, in whatever order the calls came
  std::vector<std::uint32_t> touched_routes_, touched_resources_;
  std::vector<Due> due_;

  // Of large components. By resource: its routes in the order of their lambda; those that have left stay until the next
  // settle(). `ends_` is a heap of when routes end, with entries that have been overtaken.
  std::vector<std::vector<Filled>> filled_;
  std::vector<End> ends_;
  bool plans_ends_ = false;   // from the first time on that a part was filled again
  bool ends_known_ = false;   // every route of a large component is in ends_
  bool keeps_ = false;        // the solve under way is of a large component
  double floor_ = kInfinity;  // the least lambda of what has left at this instant

  // Scratch of one solve, kept for its memory.
  std::vector<std::uint32_t> component_, component_resources_;
  std::vector<std::uint32_t> members_;
  std::vector<std::uint64_t> bitmap_;
  std::vector<double> new_rate_;  // by route; negative while unfixed
  std::vector<Level> levels_;
  std::vector<Level> limits_;
  std::size_t unfixed_ = 0;
};

}  // namespace stepcast::sim
