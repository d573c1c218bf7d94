#include "collectives/timing/prepared.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <stdexcept>

namespace stepcast::collectives {
namespace {

/// By group, at the share of the links that the protocol reaches.
std::vector<Pace> paces(const Algorithm& algorithm, const Request& like, const Wiring& wiring, double share) {
  const std::int64_t reference = std::int64_t{1 << 16} * like.ranks * like.channels;  // equal parts
  Request request = like.resized(reference);
  request.pieces = 1;
  request.rounds = 1;
  const CollectivePlan plan = algorithm.plan(request);
  std::vector<double> bytes = bytes_by_route(plan, wiring);
  for (double& each : bytes) each *= plan.rounds;
  std::vector<double> busy(wiring.capacity.size());
  for (std::size_t r = 0; r < wiring.routes.size(); ++r)
    for (const sim::Use& use : wiring.routes[r].uses) busy[sim::index(use.resource)] += use.load * bytes[r];
  std::vector<Pace> of_groups(wiring.groups);
  for (std::size_t r = 0; r < wiring.routes.size(); ++r) {
    Pace& pace = of_groups[r / wiring.connections];
    double& most = pace.seconds_per_byte;
    most = std::max(most, bytes[r] / wiring.routes.limit(r).value);
    for (const sim::Use& use : wiring.routes[r].uses)
      most = std::max(most, busy[sim::index(use.resource)] / wiring.capacity[sim::index(use.resource)].value);
    pace.slowest = std::min(pace.slowest, wiring.alone(r) * share);
  }
  // A last bit below: this is compared with simulated times as a lower bound.
  for (Pace& pace : of_groups)
    pace.seconds_per_byte = pace.seconds_per_byte / static_cast<double>(reference) * (1 - 1e-9) / share;
  return of_groups;
}

/// Of the slowest group.
Pace slowest_of(std::span<const Pace> paces) {
  Pace all;
  for (const Pace& pace : paces) {
    all.seconds_per_byte = std::max(all.seconds_per_byte, pace.seconds_per_byte);
    all.slowest = std::min(all.slowest, pace.slowest);
  }
  return all;
}

/// Of the pieces of a long pipeline that are behind those simulated: each on the busiest link, or on a connection where
/// that is longer. Rounded once, for half a picosecond of each of a million short pieces shows.
Time of_pieces_behind(const Prepared& prepared, const Pace& pace, const Cut& made) {
  const double alone = made.piece / prepared.channels / (pace.slowest.value * made.part_of_channels);
  const double each = std::max(pace.seconds_per_byte / made.part_of_channels * made.piece,
                               to_seconds(prepared.wiring.occupancy) + alone);
  return from_seconds(each * made.pieces_behind);
}

/// Pipelining d hops in k pieces takes (d + k - 1) (alpha + w n / k), least at k = sqrt((d - 1) w n / alpha), with w
/// the busiest link's seconds per byte and d told by the latency d alpha. No piece is of more than `chunk`.
std::uint32_t best_pieces(const Prepared& prepared, Bytes bytes, Bytes chunk, double seconds_per_byte) {
  const double alpha = std::max(to_seconds(prepared.wiring.occupancy), 1e-12);
  const double hops = std::max(to_seconds(prepared.prospect.latency) / alpha, 2.0);
  const double moving = seconds_per_byte * static_cast<double>(bytes.value);
  const double share = std::max(static_cast<double>(bytes.value) / prepared.channels, 1.0);
  const double least = std::ceil(share / static_cast<double>(std::max<std::int64_t>(chunk.value, 1)));
  const double most = std::min(share, 1e6);
  return static_cast<std::uint32_t>(
      std::clamp(std::round(std::sqrt((hops - 1) * moving / alpha)), std::min(least, most), most));
}

/// How many of the channels are fastest: k of them cost k / C of the ramp and move what all would move in `moving` in
/// C / k of it, least at k / C = sqrt(moving / ramp).
std::uint32_t best_channels(const Prepared& prepared, Bytes bytes, std::uint32_t channels, std::uint32_t most) {
  most = std::min(most, channels);
  if (prepared.protocol.ramp.value <= 0) return most;
  const double moving = prepared.meant_seconds_per_byte * static_cast<double>(bytes.value);
  const double wanted = channels * std::sqrt(moving / to_seconds(prepared.protocol.ramp));
  return static_cast<std::uint32_t>(std::clamp(std::round(wanted), 1.0, static_cast<double>(most)));
}

/// From how many bytes on NCCL has a second channel take part: where each thread of two has as much to do as it is
/// meant to. Source: getAlgoInfo in src/enqueue.cc, threadThresholds in src/graph/tuning.cc and the constants in
/// src/include/comm.h and devcomm.h of NCCL 2.8.4; those of 2.5.7, 2.12, 2.18 and 2.23 are the same. By LL a ring's
/// threads are meant to have something in each of its steps.
Bytes second_channel_from(const Prepared& prepared) {
  constexpr std::int64_t kChannels = 2;
  switch (prepared.proto) {
    case Proto::ll:
      return {kChannels * 512 * 8 * (prepared.algorithm->tree ? 1 : prepared.request.ranks)};
    case Proto::ll128:
      return {kChannels * 640 * 8};
    default:
      return {kChannels * 512 * 64};
  }
}

/// Of what happened only that of some groups.
void keep(std::span<const std::uint32_t> groups, const Wiring& wiring, Outcome& played) {
  played.end = {};
  for (const std::uint32_t group : groups) played.end = std::max(played.end, played.group_end[group]);
  std::ranges::fill(played.carried, 0);
  for (std::uint32_t route = 0; route < wiring.routes.size(); ++route) {
    double& bytes = played.by_route[route];
    if (std::ranges::find(groups, route / wiring.connections) == groups.end()) bytes = 0;
    for (const sim::Use& use : wiring.routes[route].uses) played.carried[sim::index(use.resource)] += use.load * bytes;
  }
  wiring.spread(played.carried);
}

/// Adds what Timing says of its waits. Where groups are in each other's way unlike, nobody can tell waiting from
/// sharing: all but what comes in front of the first byte counts as moving. What is cut into pieces keeps its
/// connections at work once the first has come; else the busiest connection waits before each of its transfers.
void add_waits(const Prepared& prepared, const Played& played, Timing& timing) {
  timing.before = played.before;
  if (!timing.alike()) {
    timing.still = std::min(played.before + prepared.prospect.latency, timing.duration);
    return;
  }
  const Wiring& wiring = prepared.wiring;
  const Outcome& outcome = played.outcome;  // of all groups
  double moving = 0;
  for (std::size_t route = 0; route < wiring.routes.size(); ++route) {
    const double alone = outcome.by_route[route] / wiring.alone(route).value;
    if (alone <= moving) continue;
    moving = alone;
    if (!prepared.pipelines) timing.bursts = outcome.transfers[route];
  }
  for (std::size_t resource = 0; resource < wiring.capacity.size(); ++resource)
    moving = std::max(moving, outcome.carried[resource] / wiring.capacity[resource].value);
  timing.still = timing.duration - std::min(from_seconds(moving * played.whole / played.scale), timing.duration);
}

/// Connections over links: how many cross each, or of peers that take turns how many of these are at work at once, in
/// the mean over the time in which any is.
class Connections {
 public:
  Connections(std::size_t links, const Outcome& outcome) : outcome_(outcome), all_(links, 0) {
    if (!outcome.at_work.empty()) uses_.resize(links);
  }

  void add(std::size_t link, std::uint32_t route, double load) {
    all_[link] += load;
    if (!uses_.empty()) uses_[link].push_back({outcome_.at_work[route], load});
  }

  std::vector<double> at_once() && {
    for (std::size_t link = 0; link < uses_.size(); ++link) {
      if (uses_[link].empty()) continue;
      std::ranges::sort(uses_[link], {}, [](const Crossing& crossing) { return crossing.when.begin; });
      Time any{}, end{};
      double together = 0;  // connections times picoseconds
      for (const auto& [when, load] : uses_[link]) {
        any += std::max(when.end - std::max(when.begin, end), Time{});
        end = std::max(end, when.end);
        together += load * static_cast<double>((when.end - when.begin).value);
      }
      if (any.value > 0) all_[link] = together / static_cast<double>(any.value);
    }
    return std::move(all_);
  }

 private:
  struct Crossing {
    RouteAtWork when;
    double load = 0;
  };
  const Outcome& outcome_;
  std::vector<double> all_;                  // by link, however they are numbered
  std::vector<std::vector<Crossing>> uses_;  // likewise, of peers that take turns
};

/// Timing::spread of groups that end so late, of so long a collective.
double spread(std::span<const Time> ends, Time duration) {
  const auto [first, last] = std::ranges::minmax_element(ends);
  if (first == ends.end() || *first == *last) return 0;
  return std::min(to_seconds(*last - *first) / to_seconds(duration), 1.0);
}

/// Messages of the rank that has most of them to send or to take in: those of one way alone, for both ways go side by
/// side. 0 for collectives, which are not made of messages.
std::int64_t most_messages(const Request& request) {
  if (!by_messages(request.operation)) return 0;
  if (request.operation == Operation::send_recv) return 1;
  const std::uint32_t n = request.ranks;
  if (request.pair_elements.empty()) return n - 1;
  std::int64_t most = 0;
  for (std::uint32_t a = 0; a < n; ++a) {
    std::int64_t out = 0, in = 0;
    for (std::uint32_t b = 0; b < n; ++b) {
      if (a == b) continue;
      out += request.pair_elements[std::size_t{a} * n + b] > 0 ? 1 : 0;
      in += request.pair_elements[std::size_t{b} * n + a] > 0 ? 1 : 0;
    }
    most = std::max({most, out, in});
  }
  return most;
}

/// How many pieces of a long pipeline are simulated: at least one, no more than about this many transfers.
constexpr std::size_t kPipelineTransfers = 1500;

}  // namespace

Time fixed_time(const Transport& transport, const Protocol& protocol) {
  return protocol.launch + picoseconds(protocol.ramp.value / transport.channels);
}

namespace {

std::uint32_t nodes_of(const std::vector<topology::GpuId>& group, const topology::Cluster& cluster) {
  std::set<std::uint32_t> nodes;
  for (const topology::GpuId gpu : group) nodes.insert(cluster.node_of(gpu));
  return static_cast<std::uint32_t>(nodes.size());
}

}  // namespace

Prepared prepare(const Algorithm& algorithm, Proto proto, const Request& request, const GroupPlacement& placement,
                 const topology::Cluster& cluster, const Transport& transport, bool fold) {
  std::vector<Symmetry> symmetries;
  const Symmetry most = algorithm.symmetry(request);
  if (fold) {
    if (most.rotate) symmetries.push_back(most);  // its period may be 0: only turned
    if (most.period != 0) symmetries.push_back({most.period, false, most.row});
  }
  symmetries.push_back({});
  const auto groups = static_cast<std::uint32_t>(placement.groups.size());
  std::vector<std::uint32_t> strides;
  for (const std::uint32_t stride : {1u, 2u, 4u, 8u}) {
    if (fold && stride < groups && groups % stride == 0) strides.push_back(stride);
  }
  strides.push_back(groups);
  const Protocol protocol = constants_of(transport, proto);
  Transport reached = transport;
  reached.nvlink_step = protocol.nvlink_step;
  reached.pcie_step = protocol.pcie_step;
  reached.host_step = protocol.host_step;
  reached.network_step = protocol.network_step;
  reached.network_efficiency *= protocol.network_share;
  if (proto == Proto::ll || proto == Proto::p2p_ll) reached.host_bridge_efficiency = 1;
  if (!transport.network_shares.empty())
    reached.network_efficiency *= network_share_over(transport, nodes_of(placement.groups.front(), cluster));
  if (proto == Proto::nvls) reached.nvlink_efficiency *= transport.nvls.share;
  if (algorithm.tree) {
    reached.nvlink_efficiency *= transport.tree_efficiency;
    reached.network_efficiency *= transport.tree_efficiency;
  }
  Prepared result;
  result.algorithm = &algorithm;
  result.protocol = protocol;
  result.proto = proto;
  result.request = request;
  result.fold = fold;
  for (const Symmetry symmetry : symmetries) {
    result.request.fold = symmetry;
    Request connected = result.request;
    connected.rounds = 1;
    CollectivePlan plan = algorithm.plan(connected);
    for (const std::uint32_t stride : strides) {
      if (auto wiring = wire(plan, placement, cluster, reached, symmetry, stride)) {
        result.wiring = std::move(*wiring);
        for (const Connection& c : plan.connections) result.channels = std::max(result.channels, c.channel + 1);
        if (symmetry.rotate) result.channels *= request.channels;
        const std::uint32_t shifts = most.period != 0 && symmetry.period == 0 ? request.ranks / most.period : 1;
        result.transfers_per_piece =
            std::max<std::size_t>(plan.transfers.size() / shifts / (symmetry.rotate ? 1 : request.channels), 1);
        result.paces = paces(algorithm, result.request, result.wiring, protocol.share);
        const Pace slowest = slowest_of(result.paces);
        result.prospect.seconds_per_byte = result.meant_seconds_per_byte = slowest.seconds_per_byte;
        if (cluster.has_slow_node()) {
          const Wiring meant = wire(plan, placement, cluster.without_slow_node(), reached, symmetry, stride).value();
          result.meant_seconds_per_byte =
              slowest_of(paces(algorithm, result.request, meant, protocol.share)).seconds_per_byte;
        } else {
          std::ranges::fill(result.paces, slowest);
        }
        plan = {};  // others are made below, which take as much memory
        result.prospect.latency = play(algorithm, result.request.resized(0), result.wiring, 1, fold).end;
        result.further_messages = protocol.message * std::max<std::int64_t>(most_messages(request) - 1, 0);
        result.prospect.fixed = fixed_time(transport, protocol) + result.further_messages;
        Request cut = result.request;
        cut.pieces = 2;
        result.pipelines = algorithm.plan(cut).pieces == 2;
        for (std::uint32_t resource = 0; resource < result.wiring.members.size(); ++resource) {
          for (const topology::LinkId link : result.wiring.members[resource]) {
            result.resources.emplace_back(link, resource);
          }
        }
        std::ranges::sort(result.resources);
        return result;
      }
    }
  }
  throw std::logic_error("a whole plan that cannot be wired");
}

Cut cut(const Prepared& prepared, const Transport& transport, Bytes bytes) {
  Cut made;
  Request& request = made.request = prepared.request.resized(bytes.value);
  const std::uint32_t active = best_channels(prepared, bytes, transport.channels, transport.forced.most_channels);
  const double part_of_channels = static_cast<double>(active) / transport.channels;
  made.part_of_channels = part_of_channels;
  made.scale = prepared.protocol.share * part_of_channels;
  const Time ramp = picoseconds(prepared.protocol.ramp.value / transport.channels * active);
  const double meant = prepared.meant_seconds_per_byte / part_of_channels;
  // A long pipeline is simulated as far as its first pieces; each further one takes a piece's time on the busiest
  // link, or on a connection where that is longer.
  if (prepared.pipelines) {
    const std::uint32_t pieces = best_pieces(prepared, bytes, transport.chunk, meant);
    const std::size_t affordable = kPipelineTransfers / prepared.transfers_per_piece;
    request.pieces = static_cast<std::uint32_t>(std::clamp<std::size_t>(affordable, 1, pieces));
    if (request.pieces < pieces) {
      const std::int64_t channels = prepared.channels;  // pieces of one size
      request.elements = std::max<std::int64_t>(bytes.value / (pieces * channels), 1) * channels * request.pieces;
      made.pieces_behind = pieces - request.pieces;
      // What rounding leaves of the first pieces comes behind them, so that all bytes are sent.
      made.piece = static_cast<double>(bytes.value - request.elements) / made.pieces_behind;
      made.whole = static_cast<double>(bytes.value) / static_cast<double>(std::max<std::int64_t>(request.elements, 1));
    }
  }
  // Between nodes it is hidden by what takes far longer.
  const bool own_part =
      request.nodes == 1 && (request.operation == Operation::all_gather || request.operation == Operation::all_to_all ||
                             request.operation == Operation::reduce_scatter);
  const double all = static_cast<double>(bytes.value);
  const Time own = own_part ? from_seconds(transport.own_copy * meant * all / (request.ranks - 1)) : Time{};
  made.before = prepared.protocol.launch + ramp + own + prepared.further_messages;
  // Elsewhere it may be more than a Time can say.
  if (passes_through(request.operation)) {
    made.moving = from_seconds(prepared.prospect.seconds_per_byte / part_of_channels * all);
    made.one_channel = bytes.value < second_channel_from(prepared).value;
  }
  return made;
}

Played simulate(const Prepared& prepared, const Transport& transport, Bytes bytes) {
  const Cut made = cut(prepared, transport, bytes);
  Played played{.before = made.before,
                .moving = made.moving,
                .one_channel = made.one_channel,
                .whole = made.whole,
                .scale = made.scale,
                .outcome = play(*prepared.algorithm, made.request, prepared.wiring, made.scale, prepared.fold)};
  if (made.pieces_behind == 0) return played;
  Outcome& outcome = played.outcome;
  for (std::size_t group = 0; group < prepared.paces.size(); ++group)
    outcome.group_end[group] += of_pieces_behind(prepared, prepared.paces[group], made);
  outcome.end = std::ranges::max(outcome.group_end);
  return played;
}

Timing timing_of(const Prepared& prepared, const Played& played, std::span<const std::uint32_t> own_groups) {
  const Wiring& wiring = prepared.wiring;
  std::optional<Outcome> kept;
  if (!own_groups.empty()) keep(own_groups, wiring, kept.emplace(played.outcome));
  const Outcome& outcome = kept ? *kept : played.outcome;
  const Time duration = played.before + outcome.end;
  // Data that passes through leaves a rank free for the next repetition while the last is on its way: once it has done
  // its part of every channel.
  const bool passes = passes_through(prepared.request.operation);
  const Time pause = played.one_channel ? Time{} : outcome.longest_pause;
  const Time interval = passes ? std::min(duration, played.before + played.moving + pause) : duration;
  const double apart = spread(outcome.group_end, duration);
  Timing timing{.duration = duration,
                .latency = prepared.prospect.fixed + prepared.prospect.latency,
                .interval = interval,
                .algorithm = std::string(prepared.algorithm->name),
                .protocol = std::string(name_of(prepared.proto)),
                .exact = wiring.aside.empty(),
                .spread = apart,
                .loads = {}};
  add_waits(prepared, played, timing);
  timing.loads.reserve(prepared.resources.size());
  Connections over_resources(wiring.capacity.size(), outcome);
  for (std::uint32_t route = 0; route < wiring.routes.size(); ++route)
    if (outcome.by_route[route] > 0)
      for (const sim::Use& use : wiring.routes[route].uses)
        over_resources.add(sim::index(use.resource), route, use.load);
  std::vector<double> connections = std::move(over_resources).at_once();
  wiring.spread(connections);
  for (const auto& [link, resource] : prepared.resources) {
    const double bytes = outcome.carried[resource] * played.whole;
    timing.loads.push_back({link, bytes,
                            bytes * wiring.bandwidth[resource].value / (wiring.capacity[resource].value * played.scale),
                            connections[resource]});
  }
  if (!wiring.aside.empty()) {
    std::vector<Timing::Load> aside(wiring.aside_links.size(), Timing::Load{{}, 0, 0, 0});
    Connections over_aside(aside.size(), outcome);
    for (const Wiring::Aside& use : wiring.aside) {
      const double bytes = use.load * outcome.by_route[use.route] * played.whole;
      Timing::Load& load = aside[use.links];
      load.bytes += bytes;
      load.occupied += bytes / (use.share * played.scale);
      over_aside.add(use.links, use.route, use.load);
    }
    const std::vector<double> crossing = std::move(over_aside).at_once();
    const auto middle = static_cast<std::ptrdiff_t>(timing.loads.size());
    for (std::size_t i = 0; i < aside.size(); ++i)
      for (const topology::LinkId link : wiring.aside_links[i])
        timing.loads.push_back({link, aside[i].bytes, aside[i].occupied, crossing[i]});
    std::ranges::sort(timing.loads.begin() + middle, timing.loads.end(), {}, &Timing::Load::link);
    std::ranges::inplace_merge(timing.loads, timing.loads.begin() + middle, {}, &Timing::Load::link);
  }
  return timing;
}

std::vector<Timing::Load> loads_of(const Algorithm& algorithm, Request request, const GroupPlacement& placement,
                                   const topology::Cluster& cluster, const Transport& transport,
                                   std::span<const std::uint32_t> own, std::span<const Timing::Load> all) {
  GroupPlacement part = placement;
  part.groups.clear();
  for (const std::uint32_t group : own) part.groups.push_back(placement.groups[group]);
  request.fold = {};
  request.pieces = 1;
  request.rounds = 1;
  const CollectivePlan plan = algorithm.plan(request);
  const auto wiring = wire(plan, part, cluster, transport, {}, static_cast<std::uint32_t>(own.size()));
  if (!wiring) throw std::logic_error("a whole plan that cannot be wired");
  const std::vector<double> by_route = bytes_by_route(plan, *wiring);
  std::vector<double> bytes(wiring->capacity.size()), connections(bytes.size());
  for (std::size_t route = 0; route < by_route.size(); ++route)
    for (const sim::Use& use : wiring->routes[route].uses) {
      bytes[sim::index(use.resource)] += use.load * by_route[route] * plan.rounds;
      if (by_route[route] > 0) connections[sim::index(use.resource)] += use.load;
    }
  wiring->spread(bytes);
  wiring->spread(connections);
  std::vector<Timing::Load> loads;
  for (std::size_t resource = 0; resource < bytes.size(); ++resource)
    for (const topology::LinkId link : wiring->members[resource]) {
      const auto like = std::ranges::lower_bound(all, link, {}, &Timing::Load::link);
      const bool known = like != all.end() && like->link == link && like->bytes > 0;
      const double occupied = known ? bytes[resource] * like->occupied / like->bytes : bytes[resource];
      const double at_once =
          known && algorithm.peers_in_turn ? like->connections * bytes[resource] / like->bytes : connections[resource];
      loads.push_back({link, bytes[resource], occupied, at_once});
    }
  std::ranges::sort(loads, {}, &Timing::Load::link);
  return loads;
}

}  // namespace stepcast::collectives
