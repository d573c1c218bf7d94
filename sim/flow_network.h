#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "sim/distinct_numbers.h"
#include "sim/known_rates.h"
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
/// In a large component of which little changes at a time, filling anew would cost all of it for each start and end.
/// There each flow is kept with its bottleneck, the full resource that decides its rate; what such a resource gives,
/// its level (lambda), is one number for all of its flows, which need not be touched when it changes. A start or an end
/// changes the level of the resources it crosses, and so what is left to others for as far as levels change: the
/// repair follows that from the lowest level up.
///
/// Its functions stand in four files:
/// - flow_network.cpp: starts, ends and progress of flows, and settle(), which calls the others;
/// - progressive_filling.cpp: which routes are one component, and its rates filled from nothing;
/// - kept_routes.cpp: large components, whose routes are kept from instant to instant: which of them start and end, and
///   whether the repair does or all is filled anew;
/// - bottlenecks.cpp: the repair itself, the order of the bottlenecks and their levels.
///
/// Who calls: an event loop with a non-decreasing clock. At each instant: any number of expire() and start(), then
/// one settle(). The rates do not depend on the order of the calls within the instant.
class FlowNetwork {
 public:
  /// Over the resources and routes of this graph, which must stay and get no more of them. O(uses).
  explicit FlowNetwork(const TaskGraph& graph);

  /// A flow begins at the instant that the coming settle() ends; `flow` is the caller's name for it. Requires
  /// bytes > 0 and a route that something limits (see unbounded()). The route's latency is the caller's. O(1) here;
  /// O(uses) and O(log flows on this route) in settle().
  /// `gone`: the flow has begun so long ago, and has been alone on its way since.
  void start(std::uint32_t flow, RouteId route, Bytes bytes, Time gone = {}) {
    starts_.push_back({bytes, flow, route, gone == Time{} ? 0 : rate_alone(route) * to_seconds(gone)});
  }
  /// What a flow takes that is alone on its way. Nothing on a route that nothing limits.
  Time time_alone(RouteId route, Bytes bytes) const;

  /// Solves what the starts and ends of this instant touched. Returns the routes for which expire() is to be planned,
  /// each at its wake(), later than `now`; valid until the next call. Only the routes that end first in their component
  /// are in it: when they end, the component is solved again. O(uses of the touched components) where they are solved,
  /// O(uses of the routes whose bottleneck changes its level) where they are repaired, O(1) for a route alone on its
  /// resources.
  std::span<const RouteId> settle(Time now);
  Time wake(RouteId route) const { return states_[index(route)].wake; }

  /// A planned time has come: ends the flows of this route that end now and appends their names. A call whose plan
  /// has been overtaken does nothing; where the end has moved later, the answer is the time to call again.
  std::optional<Time> expire(RouteId route, Time now, std::vector<std::uint32_t>& ended);

  /// A route that nothing limits: its flows take no time at all and must not be started.
  bool unbounded(RouteId route) const {
    return uses(index(route)).empty() && routes_.limit(index(route)).value == kInfinity;
  }

  /// What each flow on the route gets since the last settle(). 0 for an idle route.
  Bandwidth rate(RouteId route) const { return {rate_of(index(route))}; }

  /// A flow that ended although its rates had not brought all its bytes, or long after they had: so many are missing,
  /// or too many if less than 0.
  struct Loss {
    RouteId route{};
    double bytes = 0;
  };
  /// Of all flows that have ended. There should be none.
  std::span<const Loss> losses() const { return losses_; }

  /// Flows on the route since the last settle().
  std::uint32_t flows(RouteId route) const { return states_[index(route)].flows; }

 private:
  static constexpr std::uint32_t kNone = 0xffffffffu;
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static constexpr Time kNever{-1}, kForever{std::numeric_limits<std::int64_t>::max()};
  /// Two rates closer than this are one: symmetric flows must not differ by the rounding of a sum.
  static constexpr double kSameRate = 1e-12;
  static constexpr std::uint32_t kDuesInBlock = 64;

  struct Start {
    Bytes bytes{};
    std::uint32_t flow = 0;
    RouteId route{};
    double moved = 0;  // of the bytes, before it starts
  };
  struct Flow {
    double target = 0;  // ends when the route's progress is this
    std::uint32_t name = 0;
  };
  struct State {          // per route
    double progress = 0;  // bytes moved by a flow on this route since it was last idle, at time `since`
    Time since{};
    union {
      double rate = 0;  // bytes per second
      double anchor;    // of a kept route instead: its bottleneck's `moved` when progress was that
    };
    Time due = kNever;       // when the head ends at this rate; kNever: to be computed
    Time wake = kNever;      // the earliest call of expire() that is planned
    double head_target = 0;  // of the head: the flow that ends first
    std::uint32_t head_name = 0;
    std::uint32_t flows = 0;
    std::uint32_t others = kNone;      // into heaps_: the flows behind the head
    std::uint32_t solved = 0;          // the instant that has it in a component
    std::uint32_t bottleneck = kNone;  // that decides its rate; kNone: not yet found
    std::uint32_t counted = 0;         // the flows that the repair knows of: more than 0 if the route is kept
    bool kept() const { return counted != 0; }
  };
  struct Resource {
    double capacity = 0;
    std::uint32_t begin = 0;  // into active_: the routes active here
    std::uint32_t active = 0;
    std::uint32_t kept = 0;     // of those, the kept ones: all or none
    std::uint32_t touched = 0;  // the instant that has it in touched_resources_
    std::uint32_t seen = 0;     // the instant that has it in a component
    std::uint32_t members = 0;  // where its routes start in members_
    double sum = 0, whole = 0;  // load * weight * flows of the routes not yet fixed, and of all
    double left = 0;            // capacity minus what the fixed routes take
    double lambda = 0;          // at which it was full
    std::uint32_t unfixed = 0;
  };
  struct Level {
    double lambda = 0;
    std::uint32_t resource = 0;
  };

  /// A route kept with its bottleneck.
  struct Member {
    double end = 0;     // its head ends when the bottleneck's `moved` is this
    double demand = 0;  // load * weight * flows: what it takes of the bottleneck, per lambda
    std::uint32_t route = 0;
    std::uint32_t shares = 0;  // how many of the bottleneck's are its
  };
  /// What members take elsewhere, of other resources on their ways: those of the first member, then the second's.
  struct Shares {
    std::vector<std::uint32_t> demand;  // per lambda: which of demands_
    std::vector<std::uint32_t> where;
  };
  /// By resource, and after those one for each limit over weight that routes have: it gives that to its members,
  /// whatever their number.
  struct Bottleneck {
    double level = 0;   // the lambda of its members; of a resource without members, or with new ones only, 0
    double demand = 0;  // the members' together
    double moved = 0;   // bytes that a member of weight 1 has moved since the first came, at time `since`
    Time since{};
    double first_end = kInfinity;  // the least `end` of a member
    bool due_stale = false;        // dues_ has not been told of what has changed
    std::vector<Member> members;
    Shares shares;
  };
  /// What the repair's inner loop reads and writes of a bottleneck.
  struct Pressure {
    double taken = 0;                // by routes whose bottleneck is another
    std::uint32_t position = kNone;  // in order_, if it is there
    bool changed = false;            // since its level was computed; then it is in changed_
  };

  Uses uses(std::uint32_t route) const { return uses_[route]; }
  std::span<const std::uint32_t> active_on(const Resource& resource) const {
    return {active_.data() + resource.begin, resource.active};
  }
  /// The bottleneck that stands for the route's limit, if no resource alone is narrower.
  std::uint32_t limiter(std::uint32_t route) const { return limiters_.empty() ? kNone : limiters_[route]; }
  double weight(std::uint32_t route) const { return routes_.weight(route); }
  /// Infinite where some resource alone allows no more.
  double limit(std::uint32_t route) const { return limiter(route) == kNone ? kInfinity : routes_.limit(route).value; }
  double rate_of(std::uint32_t route) const {
    const State& state = states_[route];
    if (!state.kept()) return state.rate;
    return std::min(bottlenecks_[state.bottleneck].level * weight(route), limit(route));
  }
  /// Of a kept route: its bottleneck's `moved` when its head ends.
  double end_of_head(std::uint32_t route) const {
    const State& state = states_[route];
    return state.anchor + (state.head_target - state.progress) / weight(route);
  }
  void set_head(State& state, const Flow& flow) {
    state.head_target = flow.target;
    state.head_name = flow.name;
  }
  double rate_alone(RouteId route) const { return rates_.all()[alone_[index(route)]]; }
  void add(const Start& start, Time now);
  void link(std::uint32_t route);
  void unlink(std::uint32_t route);
  void advance(std::uint32_t route, Time now);
  void note_loss(std::uint32_t route, Time now);
  void stop(std::uint32_t route);
  Time end_of_flow(std::uint32_t route, double target) const;
  void set_rate(std::uint32_t route, double rate, Time now);
  void plan(std::uint32_t route);
  void plan_component();
  void consider(std::uint32_t route, Time now);

  // Progressive filling (sim/progressive_filling.cpp).
  void join(std::uint32_t route);
  void gather(std::uint32_t seed);
  void sort_component();
  /// The component's rates: as they were when the same routes met before, or solved.
  void share(Time now);
  void solve(Time now);
  /// All resources fill at once: every route gets `lambda` times its weight.
  void fill_at_once(double lambda, Time now);
  /// The sum over a resource's routes and what is left of it, added up from its members.
  void add_up(std::uint32_t id);
  void index_members();
  void fix(std::uint32_t route, std::uint32_t bottleneck);
  bool fixed(std::uint32_t route) const { return states_[route].bottleneck != kNone; }
  double fixed_rate(std::uint32_t route) const;
  double level(const Resource& resource) const;

  // Kept routes (sim/kept_routes.cpp) and the repair of their rates (sim/bottlenecks.cpp).
  void keep_component(Time now);
  void fill_anew(Time now);
  void update_kept(Time now);
  void enter_if_it_meets(std::uint32_t route);
  bool repair(Time now);
  void overtake(std::uint32_t position, Time now);
  std::uint32_t descend(std::uint32_t position, Time now);
  void apply_level(std::uint32_t position, Time now);
  bool take(std::uint32_t from, std::uint32_t to, Time now);
  void enter(std::uint32_t route, Time now);
  std::uint32_t leave(std::uint32_t route);
  void release(std::uint32_t route);
  void attach(std::uint32_t route, std::uint32_t bottleneck, Time now);
  void drop_leavers(std::uint32_t bottleneck);
  void enter_before_the_last_it_meets(std::uint32_t resource, Time now);
  void order_by_level(std::size_t first_new);
  void number_order();
  void put_last(std::uint32_t bottleneck);
  void erase_from_order(std::uint32_t bottleneck);
  void swap_in_order(std::uint32_t position);
  std::uint32_t overfull();
  void look_at(std::size_t position) { look_[position / 64] |= std::uint64_t{1} << (position % 64); }
  std::uint32_t next_to_look_at(std::uint32_t position) const;
  void mark(std::uint32_t bottleneck);
  void advance(Bottleneck& bottleneck, Time now);
  void add_up_taken(Time now);
  double level_now(std::uint32_t bottleneck) const;
  Time end_of(const Bottleneck& bottleneck, double end) const;
  void plan_kept(Time now);
  void set_due(std::uint32_t bottleneck, Time due) {
    dues_[bottleneck] = due;
    block_stale_[bottleneck / kDuesInBlock] = true;
  }
  Time find_first_due();
  /// Scratch of an instant or a solve. What only large ones need is given back.
  template <class Item>
  static void empty(std::vector<Item>& scratch) {
    constexpr std::size_t kMuch = 65'536;
    if (scratch.capacity() > kMuch)
      scratch = std::vector<Item>();
    else
      scratch.clear();
  }
  /// Calls visit(bottleneck, load) for all that may decide the route's rate.
  template <class Visit>
  void each_bottleneck(std::uint32_t route, Visit visit);

  const Routes& routes_;  // the graph's
  Routes::UsesReader uses_;
  std::vector<std::uint32_t> first_use_;  // by route: of its uses, in place_
  std::vector<std::uint32_t> limiters_;   // by route; empty: kNone all
  DistinctNumbers rates_;                 // of flows that are alone on their ways
  std::vector<std::uint32_t> alone_;      // by route: which of these
  std::vector<State> states_;
  std::vector<std::uint32_t> active_;  // routes, for each resource as many places as routes cross it
  std::vector<std::uint32_t> place_;   // of each use of an active route, in active_
  std::vector<Resource> resources_;
  std::vector<std::vector<Flow>> heaps_;

  std::uint32_t instant_ = 1;
  std::vector<Start> starts_;                  // of this instant: all ends come first, in whatever order the calls came
  std::vector<std::uint32_t> touched_routes_;  // some more than once
  std::vector<std::uint32_t> touched_resources_;
  std::vector<RouteId> planned_;
  std::vector<Loss> losses_;

  // Scratch of one solve, kept for its memory.
  KnownRates known_rates_;
  std::vector<KnownRates::RouteFlows> key_;  // of the component, in known_rates_
  std::vector<double> shared_rates_;         // likewise
  std::vector<std::uint32_t> component_, component_resources_;
  std::vector<std::uint32_t> members_;
  std::vector<std::uint64_t> bitmap_;
  std::vector<Level> levels_;
  std::vector<Level> limits_;
  std::size_t unfixed_ = 0;

  // Of kept routes.
  std::vector<Bottleneck> bottlenecks_;
  DistinctNumbers demands_;           // of shares
  std::vector<Pressure> pressure_;    // as bottlenecks_
  std::vector<std::uint32_t> order_;  // by level: resources that have members, and limits
  /// A bit for each position of order_ and one behind: whoever stands there has changed, or may have a lower level than
  /// the one before. All others need no look.
  std::vector<std::uint64_t> look_;
  std::vector<std::uint32_t> changed_;
  std::vector<Time> dues_;                // by bottleneck: when its first member ends, kForever without members
  std::vector<Time> block_dues_;          // the least of each kDuesInBlock of these
  std::vector<bool> block_stale_;         // likewise: must be found anew
  std::vector<std::uint32_t> first_due_;  // scratch
  std::vector<std::uint32_t> moving_, leaving_, entering_;  // scratch
  std::size_t kept_ = 0;                                    // routes
  std::uint32_t lowest_changed_ = kNone;                    // no position in order_ below this has changed
  std::uint32_t repairs_ = 0;
};

}  // namespace stepcast::sim
