#include "workload/flows.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "sim/executor.h"
#include "sim/input_error.h"
#include "workload/link_capacity.h"
#include "workload/own_algorithm.h"

namespace stepcast::workload {
namespace {

using collectives::Timing;

/// Whether groups that run the same collective at once take about as long when each is a flow that takes the time it
/// would take alone, and meets the others on the links, as the collectives themselves take together. They do where each
/// loads the links that they share evenly over its time; then one that is late does not hold up the others. `together`:
/// of all of them.
bool meet_as_flows(const Collective& c, std::string_view algorithm, Time together, const Machine& machine) {
  constexpr double kAbout = 0.01;
  std::vector<Communication> each;
  for (const collectives::Group& group : *c.groups) {
    each.push_back({{c}});
    each.back().collectives.front().groups = std::make_shared<const std::vector<collectives::Group>>(1, group);
    each.back().collectives.front().algorithm = algorithm;
    each.back().collectives.front().scale = 1;
  }
  try {
    const Flows flows(machine, each, {});
    sim::TaskGraph graph;
    for (const Bandwidth capacity : flows.shared()) graph.add_resource(capacity);
    for (std::uint32_t i = 0; i < each.size(); ++i) {
      std::optional<sim::TaskId> before;
      for (std::size_t flow = 0; flow < flows.flows(CommunicationId{i}); ++flow) {
        const sim::TaskId task = graph.transfer(graph.add_route(flows.route(CommunicationId{i}, flow, 0)),
                                                flows.amount(CommunicationId{i}, flow));
        if (before) graph.after(task, *before);
        before = task;
      }
    }
    return std::abs(sim::run(graph).end / together - 1) <= kAbout;
  } catch (const InputError&) {  // what all of them do together one of them cannot
    return false;
  }
}

/// What is known of siblings that take unlike times: whether they meet as flows do.
struct Meeting {
  std::map<std::tuple<collectives::Operation, std::int64_t, std::string, std::vector<collectives::Group>>, bool> known;
  /// Whether some of which the first to end is this much sooner do not: they take what they take together, and do not
  /// stay together.
  static constexpr double kSooner = 0.05;
  bool drift = false;
  /// Whether siblings take unlike times in any communication: ranks of these are late for all the others.
  bool unlike = false;
};

/// Meeting::unlike of their collectives, whose groups are not folded.
bool any_unlike(std::span<const Communication> communications, const Machine& machine) {
  const auto unlike = [&](const Collective& c) {
    const collectives::Details details = c.details ? *c.details : collectives::Details{};
    return c.groups->size() > c.own &&
           !machine.timer().time(c.operation, c.bytes, *c.groups, c.algorithm, false, details).alike();
  };
  return std::ranges::any_of(communications, [&](const Communication& each) {
    return std::ranges::any_of(each.collectives, unlike) || std::ranges::any_of(each.at_receiver, unlike);
  });
}

/// Whether copies take unlike times, each beside those of its stage in its node: nodes of which unlike many GPUs copy.
bool copies_unlike(std::span<const Communication> communications, const topology::Cluster& cluster, HostWays& ways) {
  std::map<std::pair<topology::ToHost, double>, double> all;  // seconds a byte, by what limits each of them
  return std::ranges::any_of(communications, [&](const Communication& each) {
    if (!each.copy) return false;
    const CopiesAtOnce copies = at_once(*each.copy, cluster, ways);
    const auto known = all.try_emplace({each.copy->direction, each.copy->at_most.value}, copies.seconds_a_byte).first;
    return copies.spread > 0 || known->second != copies.seconds_a_byte;
  });
}

/// Where the groups that ask stand for all of them.
const Timing& folded_timing(const Collective& c, const Machine& machine) {
  return machine.timer().time(c.operation, c.bytes, *c.groups, c.algorithm, true,
                              c.details ? *c.details : collectives::Details{});
}

/// What a collective takes of its timing.
double part_of(const Collective& c, const Timing& timing, const Flows::Conditions& conditions) {
  return c.scale * (conditions.first_siblings ? 1 - timing.spread : 1);
}

/// Siblings share the links. Folded, the groups that ask stand for all of them and carry all their bytes; unfolded,
/// they carry their own. Where siblings take unlike time they do not stay together for long: unfolded, each then takes
/// the time it would take without them, and meets them on the links, if that tells what they take together.
Timing timing_of(const Collective& c, const Machine& machine, const Flows::Conditions& conditions, Meeting& meeting) {
  collectives::Details details = c.details ? *c.details : collectives::Details{};
  const collectives::Timer& timer = machine.timer();
  const std::string algorithm = conditions.unfolded ? own_algorithm(c, timer) : std::string(c.algorithm);
  Timing timing = timer.time(c.operation, c.bytes, *c.groups, algorithm, !conditions.unfolded, details);
  if (conditions.unfolded && c.groups->size() > c.own) {
    const std::string chosen = timing.algorithm + "/" + timing.protocol;
    const auto meet = [&] {
      if (c.operation == collectives::Operation::send_recv) return true;
      if (c.details || c.own > 1) return false;
      std::vector<collectives::Group> sorted = *c.groups;
      std::ranges::sort(sorted);
      const auto [known, fresh] =
          meeting.known.try_emplace({c.operation, c.bytes.value, chosen, std::move(sorted)}, false);
      if (fresh) known->second = meet_as_flows(c, chosen, timing.duration, machine);
      return known->second;
    };
    // A message's siblings that take as long as it does are late where other communications make their ranks late.
    const bool late = conditions.late || (meeting.unlike && c.operation == collectives::Operation::send_recv);
    if ((timing.alike() && !late) || !meet()) {
      meeting.drift = meeting.drift || timing.spread > Meeting::kSooner;
      details.own = c.own;
      timing = timer.time(c.operation, c.bytes, *c.groups, algorithm, false, details);
    } else {
      const double spread = timing.spread;
      timing = timer.time(c.operation, c.bytes, std::span(*c.groups).first(c.own), chosen, false, details);
      timing.spread = spread;
    }
  }
  const double part = part_of(c, timing, conditions);
  return scaled(std::move(timing), part);
}

Timing joined(Timing first, const Timing& second, Communication::Order order, const topology::Cluster& cluster) {
  if (order == Communication::Order::passed_on) return passed_on(std::move(first), second, cluster);
  const Time first_moves = first.duration - first.still, second_moves = second.duration - second.still;
  first.still = std::max(first.still, second.still);
  first.duration = first.still + first_moves + second_moves;
  first.bursts = 1;
  first.spread = std::max(first.spread, second.spread);
  first.loads.insert(first.loads.end(), second.loads.begin(), second.loads.end());
  return first;
}

/// Of what runs at once, in its turn.
std::vector<Timing> timings_of(const Communication& communication, const Machine& machine,
                               const Flows::Conditions& conditions, Meeting& meeting) {
  std::vector<Timing> all;
  for (const Collective& collective : communication.collectives) {
    Timing timing = timing_of(collective, machine, conditions, meeting);
    if (all.empty() || communication.order == Communication::Order::one_after_the_other)
      all.push_back(std::move(timing));
    else
      all.back() = joined(std::move(all.back()), timing, communication.order, machine.cluster());
  }
  if (all.empty()) all.emplace_back();
  return all;
}

/// Thousands of groups of one shape take equally long: which links they load tells them apart. Some of these do.
std::size_t hash_of(const Timing& timing) {
  constexpr std::size_t kLooked = 8;
  std::size_t hash = static_cast<std::size_t>(timing.duration.value);
  const auto mix = [&](std::size_t more) { hash = (hash ^ more) * 0x9e3779b97f4a7c15u + (hash >> 29); };
  const std::size_t step = std::max<std::size_t>(timing.loads.size() / kLooked, 1);
  for (std::size_t i = 0; i < timing.loads.size(); i += step) {
    mix(index(timing.loads[i].link));
    mix(std::bit_cast<std::uint64_t>(timing.loads[i].bytes));
  }
  return hash;
}

/// What a collective's most loaded link needs for it, which is no more than it takes.
Time busiest(const Timing& timing, const Machine& machine) {
  double most = 0;
  for (const Timing::Load& load : timing.loads)
    most = std::max(most, load.occupied / link_capacity(machine.cluster(), load.link).value);
  return std::min(timing.duration, from_seconds(most));
}

/// So many bursts stand for any number of them: on random plans more are no nearer to all transfers simulated.
constexpr std::uint32_t kMostBursts = 2;
/// Where less than this part of its time is waiting between bursts, a collective waits in front: the few that are left
/// are no further from all transfers simulated, and plans of large buckets would take twice as long to simulate.
constexpr double kWorthBursts = 0.03;
/// What receivers do with a message for no more than this part of what they compute meanwhile takes its time and meets
/// nothing: meeting traffic inside their layers it could take twice as long and hold that up as much, if they met each
/// time. Random plans move by less than 0.2 %, and to find out where it meets every pass would be simulated in its
/// parts.
constexpr double kWorthMeeting = 0.01;

}  // namespace

Flows::Flows(const Machine& machine, std::span<const Communication> communications, const Conditions& conditions)
    : cluster_(&machine.cluster()) {
  moves_.resize(communications.size());
  HostWays ways(machine.cluster());
  Meeting meeting;
  const bool may_part = conditions.unfolded && !conditions.late;  // who is late is so whatever the others do
  const bool copies_part = may_part && copies_unlike(communications, machine.cluster(), ways);
  meeting.unlike = copies_part || (may_part && any_unlike(communications, machine));
  const auto moves_of = [&](Timing timing) {
    alike_ = alike_ && timing.alike();
    const Time moving = std::max(timing.duration - timing.still, busiest(timing, machine));
    const Time waits = timing.duration - moving, between = waits - std::min(waits, timing.before);
    std::uint32_t bursts = std::clamp(timing.bursts, 1u, kMostBursts);
    const Time pause{between.value / bursts};
    if (pause == Time{} || between / timing.duration < kWorthBursts) bursts = 1;
    timing.duration = moving;
    return Moves{waits - pause * (std::int64_t{bursts} - 1), pause, bursts, kind_of(timing)};
  };
  const auto add = [&](std::size_t at, Moves moves) {
    const Communication& communication = communications[at];
    if (moves_[at].empty()) moves.latency += communication.delay;
    // Negative: a turn of its own.
    const auto own = -1 - static_cast<std::int64_t>(at);
    kinds_[moves.kind].turns.push_back(communication.turn ? std::int64_t{*communication.turn} : own);
    moves_[at].push_back(moves);
  };
  // Of one answer of the timer, used so much, this is worked out once: buckets and stages ask the same hundreds of
  // times.
  std::map<std::pair<const Timing*, double>, Moves> made;
  const bool folds = !conditions.unfolded;
  const auto moves_of_one = [&](const Collective& c) {
    if (!folds) return moves_of(timing_of(c, machine, conditions, meeting));
    const Timing& timing = folded_timing(c, machine);
    const double part = part_of(c, timing, conditions);
    const auto known = made.find({&timing, part});
    return known != made.end() ? known->second : made[{&timing, part}] = moves_of(scaled(timing, part));
  };
  for (std::size_t i = 0; i < communications.size(); ++i) {
    const Communication& communication = communications[i];
    const bool apart = communication.order == Communication::Order::one_after_the_other;
    if (communication.copy) continue;
    if (apart && folds && !communication.collectives.empty())
      for (const Collective& collective : communication.collectives) add(i, moves_of_one(collective));
    else
      for (Timing& timing : timings_of(communication, machine, conditions, meeting))
        add(i, moves_of(std::move(timing)));
    for (const Collective& collective : communication.at_receiver) {
      Timing timing = timing_of(collective, machine, conditions, meeting);
      if (timing.duration / communication.receivers_compute <= kWorthMeeting)
        moves_[i].back().latency += timing.duration;
      else
        add(i, moves_of(std::move(timing)));
    }
  }
  drift_ = meeting.drift;
  // Else ranks that copy at the same moment do not for long.
  const bool together = alike_ && !conditions.late && !copies_part;
  for (std::size_t i = 0; i < communications.size(); ++i)
    if (const std::optional<HostCopy>& copy = communications[i].copy)
      add(i, moves_of(timing_of(*copy, machine.cluster(), ways, {conditions.unfolded, together})));
  for (Kind& kind : kinds_) {
    std::ranges::sort(kind.turns);
    kind.turns.erase(std::unique(kind.turns.begin(), kind.turns.end()), kind.turns.end());
  }
  share_links(machine.cluster());
  for (std::vector<Moves>& all : moves_)  // who meets nobody is one flow
    for (Moves& moves : all)
      if (kinds_[moves.kind].uses.empty()) moves = {moves.waits(), {}, 1, moves.kind};
  // What copies meet may be beside some of their GPUs alone, which one for all of them cannot tell.
  for (std::uint32_t i = 0; i < communications.size() && !conditions.unfolded; ++i)
    if (const std::optional<HostCopy>& copy = communications[i].copy)
      alike_ = alike_ && (copy->gpus.size() == 1 || !shares(CommunicationId{i}));
}

std::size_t Flows::kind_of(const collectives::Timing& timing) {
  const auto same = [](const collectives::Timing::Load& a, const collectives::Timing::Load& b) {
    return a.link == b.link && a.bytes == b.bytes && a.occupied == b.occupied;
  };
  const std::size_t hash = hash_of(timing);
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto known = first; known != last; ++known) {
    const Kind& kind = kinds_[known->second];
    if (kind.time == timing.duration && std::ranges::equal(kind.loads, timing.loads, same)) return known->second;
  }
  by_hash_.emplace(hash, kinds_.size());
  kinds_.push_back({timing.duration, timing.loads});
  return kinds_.size() - 1;
}

void Flows::share_links(const topology::Cluster& cluster) {
  struct OnLink {
    std::size_t kind = 0;
    double rate = 0;  // that a flow of the kind occupies when it is alone, per picosecond
    double bytes = 0, connections = 0;
    auto operator<=>(const OnLink&) const = default;
  };
  using Loads = std::vector<OnLink>;
  // Each kind's loads are in the order of their links, and a large cluster has millions of them: all kinds are walked
  // at once, over so many links at a time. O(loads of kinds + kinds x links / kLinksAtOnce)
  constexpr std::uint32_t kLinksAtOnce = 1024;
  struct Walk {
    std::size_t kind;
    double flow;
    const collectives::Timing::Load *next, *end;
  };
  std::vector<Walk> walks;
  for (std::size_t k = 0; k < kinds_.size(); ++k) {
    std::vector<collectives::Timing::Load>& loads = kinds_[k].loads;
    if (kinds_[k].time.value == 0 || loads.empty()) continue;
    if (!std::ranges::is_sorted(loads, {}, &collectives::Timing::Load::link))
      std::ranges::stable_sort(loads, {}, &collectives::Timing::Load::link);
    walks.push_back({k, static_cast<double>(kinds_[k].time.value), loads.data(), loads.data() + loads.size()});
  }
  std::map<std::pair<Loads, double>, sim::ResourceId> constraints;
  std::map<std::int64_t, double> of_turns;
  const auto together = [&](const Loads& on_link) {
    of_turns.clear();
    for (const OnLink& each : on_link)
      for (const std::int64_t turn : kinds_[each.kind].turns) {
        double& most = of_turns[turn];
        most = std::max(most, each.rate);
      }
    double all = 0;
    for (const auto& [turn, most] : of_turns) all += most;
    return all * kPicosecondsPerSecond;
  };
  const auto share = [&](topology::LinkId link, const Loads& on_link) {
    if (on_link.empty() || (on_link.size() == 1 && kinds_[on_link.front().kind].turns.size() == 1)) return;
    constexpr double kRounding = 1e-9;
    const double capacity = link_capacity(cluster, link).value, full = capacity * (1 + kRounding);
    double at_most = 0;
    for (const OnLink& each : on_link)
      at_most += each.rate * kPicosecondsPerSecond * static_cast<double>(kinds_[each.kind].turns.size());
    if (at_most <= full || together(on_link) <= full) return;  // never full
    const auto [at, fresh] = constraints.try_emplace({on_link, capacity}, sim::ResourceId{});
    if (!fresh) return;
    at->second = sim::ResourceId{static_cast<std::uint32_t>(shared_.size())};
    shared_.push_back({capacity});
    shared_links_.push_back(link);
    for (const OnLink& each : on_link) {
      Kind& kind = kinds_[each.kind];
      kind.uses.push_back({at->second, each.rate});
      const double part = each.rate / capacity;
      if (part <= kind.most) continue;
      kind.most = part;
      kind.connections = each.connections * static_cast<double>(kind.time.value) / each.bytes;
    }
  };
  std::vector<Loads> on_links(kLinksAtOnce);
  for (std::uint32_t first = 0; !walks.empty(); first += kLinksAtOnce) {
    for (Walk& walk : walks)
      for (; walk.next != walk.end && index(walk.next->link) - first < kLinksAtOnce; ++walk.next) {
        if (!(walk.next->bytes > 0)) continue;
        const double rate = walk.next->occupied / walk.flow;
        Loads& on_link = on_links[index(walk.next->link) - first];
        if (on_link.empty() || on_link.back().kind != walk.kind) on_link.push_back({walk.kind});
        OnLink& on = on_link.back();
        on.rate += rate;
        on.bytes += walk.next->bytes;
        on.connections += walk.next->connections;
      }
    std::erase_if(walks, [](const Walk& walk) { return walk.next == walk.end; });
    for (std::uint32_t at = 0; at < kLinksAtOnce; ++at) {
      share(topology::LinkId{first + at}, on_links[at]);
      on_links[at].clear();
    }
  }
}

std::vector<double> Flows::handed(std::span<const std::uint32_t> times) const {
  std::vector<double> of_kinds(kinds_.size(), 0), handed(shared_.size(), 0);
  for (std::size_t id = 0; id < times.size(); ++id)
    for (const Moves& moves : moves_[id]) of_kinds[moves.kind] += times[id];
  for (std::size_t k = 0; k < kinds_.size(); ++k)
    for (const sim::Use& use : kinds_[k].uses) {
      const std::uint32_t shared = sim::index(use.resource);
      const std::vector<collectives::Timing::Load>& loads = kinds_[k].loads;
      const topology::LinkId link = shared_links_[shared];
      for (auto load = std::ranges::lower_bound(loads, link, {}, &collectives::Timing::Load::link);
           load != loads.end() && load->link == link; ++load)
        handed[shared] += of_kinds[k] * load->occupied;
    }
  return handed;
}

template <class See>
void Flows::each_place(const Kind& kind, const See& see) const {
  if (kind.time == Time{}) return;
  const std::uint32_t places = cluster_->links_per_node(), fabric = places * cluster_->nodes();
  const std::vector<Timing::Load>& loads = kind.loads;  // in the order of their links
  std::uint32_t first = 0;                              // of the node
  for (std::size_t i = 0; i < loads.size() && index(loads[i].link) < fabric;) {
    const topology::LinkId link = loads[i].link;
    double occupied = 0;
    for (; i < loads.size() && loads[i].link == link; ++i) occupied += loads[i].occupied;
    while (index(link) - first >= places) first += places;
    see(index(link) - first, occupied);
  }
}

bool Flows::nodes_alike() const {
  constexpr double kRounding = 1e-9;
  const std::uint32_t places = cluster_->links_per_node();
  std::vector<double> least(places), most(places);
  const auto look_at = [&](const Kind& kind) {
    std::ranges::fill(most, 0);
    bool alike = true;
    each_place(kind, [&](std::uint32_t place, double occupied) {
      least[place] = most[place] == 0 ? occupied : std::min(least[place], occupied);
      most[place] = std::max(most[place], occupied);
      alike = alike && least[place] >= most[place] * (1 - kRounding);
    });
    return alike;
  };
  if (std::ranges::all_of(kinds_, look_at)) return true;
  struct LinksOfNodes {
    bool alike = true;
    std::map<std::int64_t, double> of_turns{};  // the most that any of them is occupied, per picosecond
  };
  std::vector<LinksOfNodes> all(places);
  for (const Kind& kind : kinds_) {
    look_at(kind);
    for (std::uint32_t place = 0; place < places; ++place) {
      if (most[place] == 0) continue;
      all[place].alike = all[place].alike && least[place] >= most[place] * (1 - kRounding);
      const double rate = most[place] / static_cast<double>(kind.time.value);
      for (const std::int64_t turn : kind.turns) {
        double& of_turn = all[place].of_turns[turn];
        of_turn = std::max(of_turn, rate);
      }
    }
  }
  for (std::uint32_t place = 0; place < places; ++place) {
    double together = 0;
    for (const auto& [turn, rate] : all[place].of_turns) together += rate;
    const double full = link_capacity(*cluster_, topology::LinkId{place}).value;
    if (!all[place].alike && together * kPicosecondsPerSecond > full) return false;
  }
  return true;
}

Time Flows::alone(CommunicationId id) const {
  Time all{};
  for (const Moves& moves : moves_[index(id)]) all = all + moves.waits() + kinds_[moves.kind].time;
  return all;
}

bool Flows::shares(CommunicationId id) const {
  return std::ranges::any_of(moves_[index(id)], [&](const Moves& moves) { return !kinds_[moves.kind].uses.empty(); });
}

std::size_t Flows::flows(CommunicationId id) const {
  std::size_t all = 0;
  for (const Moves& moves : moves_[index(id)]) all += moves.bursts;
  return all;
}

Flows::Burst Flows::burst(CommunicationId id, std::size_t flow) const {
  const Moves* of = moves_[index(id)].data();
  for (; flow >= of->bursts; ++of) flow -= of->bursts;
  const Time whole = kinds_[of->kind].time, part{whole.value / of->bursts};
  if (flow > 0) return {of->pause, part, of->kind};
  return {of->latency, whole - part * (std::int64_t{of->bursts} - 1), of->kind};
}

sim::Route Flows::route(CommunicationId id, std::size_t flow, std::uint32_t first) const {
  const Burst one = burst(id, flow);
  const Kind& of = kinds_[one.kind];
  sim::Route route{of.uses, one.waits, {kPicosecondsPerSecond}, of.uses.empty() ? 1.0 : of.connections};
  for (sim::Use& use : route.uses) use.resource = sim::ResourceId{first + sim::index(use.resource)};
  return route;
}

}  // namespace stepcast::workload
