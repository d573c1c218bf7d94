#include "collectives/timer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>

#include "collectives/algorithms.h"
#include "collectives/chains.h"
#include "collectives/chooser.h"
#include "collectives/nccl/search.h"
#include "collectives/placement.h"
#include "collectives/play.h"
#include "collectives/wiring.h"
#include "sim/input_error.h"

namespace stepcast::collectives {
namespace {

/// nvls: Simple as the algorithms have it whose sums NVSwitches make.
enum class Proto : std::uint8_t { simple, ll128, ll, nvls };
bool in_nvswitch(const Algorithm& algorithm) { return algorithm.name == "nvls" || algorithm.name == "nvls-tree"; }
constexpr std::array kProtocols = {Proto::simple, Proto::ll128, Proto::ll};

std::string_view name_of(Proto proto) {
  constexpr std::string_view names[] = {"Simple", "LL128", "LL", "Simple"};
  return names[static_cast<std::size_t>(proto)];
}

Protocol constants_of(const Transport& t, Proto proto) {
  switch (proto) {
    case Proto::simple:
      return {t.launch, t.ramp, t.nvlink_step, t.pcie_step, t.host_step, t.network_step, 1.0};
    case Proto::ll128:
      return t.ll128;
    case Proto::ll:
      return t.ll;
    case Proto::nvls: {  // its share is of NVLink alone
      Protocol nvls = t.nvls;
      nvls.share = nvls.share > 0 ? 1 : 0;
      return nvls;
    }
  }
  return {};
}

/// "ring/LL": the algorithm, and the protocol if one is asked for.
struct Wanted {
  std::string_view algorithm;
  std::optional<Proto> protocol;
};

Wanted parse(std::string_view name) {
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos) return {name, {}};
  const std::string_view protocol = name.substr(slash + 1);
  for (const Proto each : kProtocols) {
    if (protocol == name_of(each)) return {name.substr(0, slash), each};
  }
  throw InputError("algorithm", "found protocol '" + std::string(protocol) + "'. Allowed: Simple, LL128, LL");
}

nccl::Protocol to_nccl(Proto proto) {
  return proto == Proto::ll      ? nccl::Protocol::ll
         : proto == Proto::ll128 ? nccl::Protocol::ll128
                                 : nccl::Protocol::simple;
}
Proto from_nccl(nccl::Protocol protocol) {
  return protocol == nccl::Protocol::ll ? Proto::ll : protocol == nccl::Protocol::ll128 ? Proto::ll128 : Proto::simple;
}

/// An algorithm on a placement with a protocol, ready for any number of bytes.
struct Prepared {
  const Algorithm* algorithm = nullptr;
  Protocol protocol;
  Proto proto = Proto::simple;
  Request request;
  Wiring wiring;
  Prospect prospect;                                           // at full rate: all channels
  Time occupancy{};                                            // of a connection, by a transfer of no bytes
  Bandwidth slowest{std::numeric_limits<double>::infinity()};  // what the slowest connection could reach alone
  std::uint32_t channels = 1;
  bool pipelines = false;               // cuts into pieces if asked to
  std::size_t transfers_per_piece = 1;  // of one channel and group: the same folded and whole
  bool fold = true;
  std::vector<std::pair<topology::LinkId, std::uint32_t>> resources;  // of links, in the order of their ids
};

Bandwidth alone(const sim::Route& route, const Wiring& wiring) {
  Bandwidth rate = route.limit;
  for (const sim::Use& use : route.uses) {
    rate = std::min(rate, Bandwidth{wiring.capacity[sim::index(use.resource)].value / use.load});
  }
  return rate;
}

/// Seconds that the busiest resource, or the most limited route, needs for one byte of the operation's size.
double seconds_per_byte(const Algorithm& algorithm, Request request, const Wiring& wiring) {
  const std::int64_t reference = std::int64_t{1 << 16} * request.ranks * request.channels;  // equal parts
  request.elements = reference;
  request.pieces = 1;
  request.rounds = 1;
  const Plan plan = algorithm.plan(request);
  std::vector<double> bytes = bytes_by_route(plan, wiring);
  for (double& each : bytes) each *= plan.rounds;
  std::vector<double> busy(wiring.capacity.size());
  double most = 0;
  for (std::size_t r = 0; r < wiring.routes.size(); ++r) {
    most = std::max(most, bytes[r] / wiring.routes[r].limit.value);
    for (const sim::Use& use : wiring.routes[r].uses) busy[sim::index(use.resource)] += use.load * bytes[r];
  }
  for (std::size_t i = 0; i < busy.size(); ++i) most = std::max(most, busy[i] / wiring.capacity[i].value);
  // A last bit below: this is compared with simulated times as a lower bound.
  return most / static_cast<double>(reference) * (1 - 1e-9);
}

/// Pipelining d hops in k pieces takes (d + k - 1) (alpha + w n / k), least at k = sqrt((d - 1) w n / alpha), with w
/// the busiest link's seconds per byte and d told by the latency d alpha. No piece is of more than `chunk`.
std::uint32_t best_pieces(const Prepared& prepared, Bytes bytes, Bytes chunk, double seconds_per_byte_now) {
  const double alpha = std::max(to_seconds(prepared.occupancy), 1e-12);
  const double hops = std::max(to_seconds(prepared.prospect.latency) / alpha, 2.0);
  const double moving = seconds_per_byte_now * static_cast<double>(bytes.value);
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
  const double moving = prepared.prospect.seconds_per_byte * static_cast<double>(bytes.value);
  const double wanted = channels * std::sqrt(moving / to_seconds(prepared.protocol.ramp));
  return static_cast<std::uint32_t>(std::clamp(std::round(wanted), 1.0, static_cast<double>(most)));
}

/// How many pieces of a long pipeline are simulated: at least one, no more than about this many transfers.
constexpr std::size_t kPipelineTransfers = 1500;

}  // namespace

struct Timer::Impl {
  topology::Cluster cluster;
  Transport transport;

  // What has been worked out, guarded by `mutex`; nothing is ever removed, and nodes of a map stay where they are.
  using Members = std::vector<Group>;
  using PreparedKey = std::tuple<std::size_t, Operation, std::string_view, Proto, bool>;
  using TimingKey = std::tuple<std::size_t, Operation, std::int64_t, std::string, bool>;
  std::mutex mutex;
  std::map<Members, std::size_t> placements;
  std::map<std::size_t, std::vector<Chain>> chains;  // of placements, as searched
  std::map<std::size_t, nccl::Job> jobs;             // likewise, as NCCL sees them
  std::map<PreparedKey, Prepared> prepared;
  std::map<TimingKey, Timing> timings;

  std::size_t number_of(std::span<const Group> groups) {
    Members members(groups.begin(), groups.end());
    const std::lock_guard lock(mutex);
    return placements.try_emplace(std::move(members), placements.size()).first->second;
  }

  /// The smallest simulation that is exact: turned and shifted, shifted, or as it is; with groups standing for others.
  Prepared prepare(const Algorithm& algorithm, Proto proto, const Request& request, const Placement& placement,
                   bool fold) const {
    std::vector<Symmetry> symmetries;
    if (fold) {
      const Symmetry most = algorithm.symmetry(request);
      if (most.rotate) symmetries.push_back(most);  // its period may be 0: only turned
      if (most.period != 0) symmetries.push_back({most.period, false});
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
      const Plan plan = algorithm.plan(connected);
      for (const std::uint32_t stride : strides) {
        if (auto wiring = wire(plan, placement, cluster, reached, symmetry, stride)) {
          result.wiring = std::move(*wiring);
          result.prospect.latency = play(algorithm, result.request, result.wiring, 1, fold).end;
          result.prospect.seconds_per_byte =
              seconds_per_byte(algorithm, result.request, result.wiring) / protocol.share;
          result.prospect.fixed = fixed(protocol);
          for (const sim::Route& route : result.wiring.routes) {
            result.occupancy = std::max(result.occupancy, route.latency);
            result.slowest = std::min(result.slowest, alone(route, result.wiring) * protocol.share);
          }
          for (const Connection& c : plan.connections) result.channels = std::max(result.channels, c.channel + 1);
          if (symmetry.rotate) result.channels *= request.channels;
          result.transfers_per_piece =
              std::max<std::size_t>(plan.transfers.size() / (symmetry.rotate ? 1 : request.channels), 1);
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

  /// What the protocol costs with the fewest channels.
  Time fixed(const Protocol& protocol) const {
    return protocol.launch + picoseconds(protocol.ramp.value / transport.channels);
  }

  const Prepared& prepared_for(const PreparedKey& key, const Algorithm& algorithm, const Request& request,
                               const Placement& placement, bool fold) {
    {
      const std::lock_guard lock(mutex);
      const auto known = prepared.find(key);
      if (known != prepared.end()) return known->second;
    }
    Prepared fresh = prepare(algorithm, std::get<Proto>(key), request, placement, fold);
    const std::lock_guard lock(mutex);
    return prepared.try_emplace(key, std::move(fresh)).first->second;
  }

  const std::vector<Chain>& chains_of(std::size_t number, const Placement& placement) {
    {
      const std::lock_guard lock(mutex);
      const auto known = chains.find(number);
      if (known != chains.end()) return known->second;
    }
    std::vector<Chain> found = found_chains(cluster, placement.groups.front(), placement.nodes);
    if (found.size() > transport.most_channels) found.resize(transport.most_channels);
    const std::lock_guard lock(mutex);
    return chains.try_emplace(number, std::move(found)).first->second;
  }

  const nccl::Job& job_of(std::size_t number, const Placement& placement) {
    {
      const std::lock_guard lock(mutex);
      const auto known = jobs.find(number);
      if (known != jobs.end()) return known->second;
    }
    nccl::Job found = nccl::search(cluster, placement.groups.front());
    const std::lock_guard lock(mutex);
    return jobs.try_emplace(number, std::move(found)).first->second;
  }

  /// What the release of the stack would pick of what there are plans for; its protocol where the stack describes it,
  /// else Simple.
  Wanted picked_by_nccl(Request request, Bytes bytes, std::optional<Proto> protocol, std::size_t number,
                        const Placement& placement) {
    if (!nccl::tunes(request.operation)) return {"auto", protocol};
    nccl::Job job = job_of(number, placement);
    const Forced& forced = transport.forced;
    nccl::Overrides overrides;
    if (forced.most_channels < transport.channels) overrides.most_channels = forced.most_channels;
    // Of what is forced only all_reduce has a choice; the others run along rings.
    const bool choice = !forced.algorithms.empty() && request.operation == Operation::all_reduce;
    for (std::size_t i = 0; i < job.graphs.size() && choice; ++i) {
      if (!job.graphs[i]) continue;
      const std::string_view plan = nccl::plan_name(static_cast<nccl::Algorithm>(i));
      if (std::ranges::find(forced.algorithms, plan) == forced.algorithms.end()) job.graphs[i].reset();
    }
    std::vector<std::optional<nccl::Protocol>> protocols;
    if (protocol) {
      protocols = {to_nccl(*protocol)};
    } else if (forced.protocols.empty()) {
      protocols = {std::nullopt};
    } else {
      for (const Proto each : kProtocols) {
        if (may_use(each)) protocols.push_back(to_nccl(each));
      }
    }
    while (true) {
      nccl::Pick pick{.predicted = picoseconds(std::numeric_limits<std::int64_t>::max())};
      for (const std::optional<nccl::Protocol>& each : protocols) {
        overrides.protocol = each;
        const nccl::Pick other =
            nccl::pick(nccl::constants(transport.nccl_version), job, request.operation, bytes, overrides);
        if (other.predicted < pick.predicted) pick = other;
      }
      const Algorithm& planned = algorithm(nccl::plan_name(pick.algorithm));
      if (planned.needs_links && request.ranks <= kMostViewed) {
        request.links = view_links(cluster, placement.groups.front());
      }
      const Proto picked = from_nccl(pick.protocol);
      if (planned.supports(request)) {
        return {planned.name, constants_of(transport, picked).share > 0 ? picked : Proto::simple};
      }
      job.graphs[static_cast<std::size_t>(pick.algorithm)].reset();
    }
  }

  Timing simulate(const Prepared& prepared_algorithm, Bytes bytes) const {
    const Wiring& wiring = prepared_algorithm.wiring;
    Request request = prepared_algorithm.request;
    request.elements = bytes.value;
    const std::uint32_t active =
        best_channels(prepared_algorithm, bytes, transport.channels, transport.forced.most_channels);
    const double part_of_channels = static_cast<double>(active) / transport.channels;
    const double scale = prepared_algorithm.protocol.share * part_of_channels;
    const Time ramp = picoseconds(prepared_algorithm.protocol.ramp.value / transport.channels * active);
    const double now = prepared_algorithm.prospect.seconds_per_byte / part_of_channels;
    // A long pipeline is simulated as far as its first pieces; each further one takes a piece's time on the busiest
    // link, or on a connection where that is longer.
    Time rest{};
    double whole = 1;
    if (prepared_algorithm.pipelines) {
      const std::uint32_t pieces = best_pieces(prepared_algorithm, bytes, transport.chunk, now);
      const std::size_t affordable = kPipelineTransfers / prepared_algorithm.transfers_per_piece;
      request.pieces = static_cast<std::uint32_t>(std::clamp<std::size_t>(affordable, 1, pieces));
      if (request.pieces < pieces) {
        const std::int64_t channels = prepared_algorithm.channels;  // pieces of one size
        request.elements = std::max<std::int64_t>(bytes.value / (pieces * channels), 1) * channels * request.pieces;
        const double piece = static_cast<double>(bytes.value) / pieces;
        const double alone =
            piece / prepared_algorithm.channels / (prepared_algorithm.slowest.value * part_of_channels);
        const Time period = from_seconds(std::max(now * piece, to_seconds(prepared_algorithm.occupancy) + alone));
        rest = period * std::int64_t{pieces - request.pieces};
        whole = static_cast<double>(bytes.value) / static_cast<double>(std::max<std::int64_t>(request.elements, 1));
      }
    }
    const Outcome played = play(*prepared_algorithm.algorithm, request, wiring, scale, prepared_algorithm.fold);
    const bool own_part = request.operation == Operation::all_gather || request.operation == Operation::all_to_all;
    const double moving = now * static_cast<double>(bytes.value);
    const Time own = own_part ? from_seconds(transport.own_copy * moving / (request.ranks - 1)) : Time{};
    const Time before = prepared_algorithm.protocol.launch + ramp + own, duration = before + played.end + rest;
    // Data that passes through leaves a rank free for the next repetition while the last is on its way.
    const bool passes = request.operation == Operation::broadcast || request.operation == Operation::reduce;
    const Time interval = passes ? std::min(duration, before + from_seconds(moving)) : duration;
    Timing timing{.duration = duration,
                  .latency = prepared_algorithm.prospect.fixed + prepared_algorithm.prospect.latency,
                  .interval = interval,
                  .algorithm = std::string(prepared_algorithm.algorithm->name),
                  .protocol = std::string(name_of(prepared_algorithm.proto)),
                  .loads = {}};
    timing.loads.reserve(prepared_algorithm.resources.size());
    for (const auto& [link, resource] : prepared_algorithm.resources) {
      timing.loads.push_back({link, played.carried[resource] * whole});
    }
    if (!wiring.aside.empty()) {
      std::map<topology::LinkId, double> aside;
      for (const Wiring::Aside& use : wiring.aside) aside[use.link] += use.load * played.by_route[use.route];
      const auto middle = static_cast<std::ptrdiff_t>(timing.loads.size());
      for (const auto& [link, amount] : aside) timing.loads.push_back({link, amount * whole});
      std::ranges::inplace_merge(timing.loads, timing.loads.begin() + middle, {}, &Timing::Load::link);
    }
    return timing;
  }

  /// The stack has it, and nothing forbids it.
  bool may_use(Proto proto) const {
    const std::vector<std::string>& forced = transport.forced.protocols;
    return constants_of(transport, proto).share > 0 &&
           (forced.empty() || std::ranges::find(forced, name_of(proto)) != forced.end());
  }

  /// Those that are asked for, or that "auto" considers, and can do it. Of algorithms that are forced none may do the
  /// operation: then it is the library's choice, as in NCCL.
  std::vector<const Algorithm*> candidates(std::string_view name, const Request& request) const {
    std::vector<const Algorithm*> found;
    if (name == "auto") {
      for (const std::string& forced : transport.forced.algorithms) {
        const Algorithm& each = algorithm(forced);
        const bool runs = !in_nvswitch(each) || may_use(Proto::simple);
        if (runs && each.supports(request)) found.push_back(&each);
      }
      if (!found.empty()) return found;
      for (const Algorithm* each : algorithms()) {
        const bool considered = in_nvswitch(*each) ? transport.nvls.share > 0 && may_use(Proto::simple)
                                                   : each->automatic(request.operation);
        if (considered && each->supports(request)) found.push_back(each);
      }
      if (found.empty()) {
        throw InputError("algorithm", "none can do " + std::string(collectives::name(request.operation)) + " over " +
                                          std::to_string(request.ranks) + " ranks");
      }
      return found;
    }
    const Algorithm& wanted = algorithm(name);
    if (!wanted.supports(request)) {
      throw InputError("algorithm", "'" + std::string(name) + "' cannot do " +
                                        std::string(collectives::name(request.operation)) + " over " +
                                        std::to_string(request.ranks) + " ranks" +
                                        (wanted.needs.empty() ? "" : ": it needs " + std::string(wanted.needs)));
    }
    found.push_back(&wanted);
    return found;
  }

  Timing fresh(Operation operation, Bytes bytes, std::span<const Group> concurrent, std::string_view name, bool fold,
               std::size_t number) {
    const Placement placement = place(cluster, concurrent, operation != Operation::send_recv);
    Wanted wanted = parse(name);
    if (wanted.algorithm != "auto" && wanted.algorithm != "nccl") algorithm(wanted.algorithm);  // unknown: throws
    if (placement.ranks == 1)
      return {{}, {}, {}, std::string(wanted.algorithm), std::string(name_of(Proto::simple)), {}};
    const bool walked = operation != Operation::send_recv;
    Request request = request_on(cluster, placement, operation, transport.most_channels,
                                 walked ? chains_of(number, placement) : std::vector<Chain>{});

    if (wanted.algorithm == "nccl") wanted = picked_by_nccl(request, bytes, wanted.protocol, number, placement);
    const bool switches = wanted.algorithm == "auto" && transport.nvls.share > 0 && request.nodes == 1;
    const auto needs = [](std::string_view algorithm_name) { return algorithm(algorithm_name).needs_links; };
    const bool named =
        wanted.algorithm == "auto" ? std::ranges::any_of(transport.forced.algorithms, needs) : needs(wanted.algorithm);
    if ((switches || named) && request.ranks <= kMostViewed) {
      request.links = view_links(cluster, placement.groups.front());
    }
    const std::vector<const Algorithm*> able = candidates(wanted.algorithm, request);
    const auto usable = std::ranges::find_if(kProtocols, [&](Proto proto) { return may_use(proto); });
    const Proto first = wanted.protocol.value_or(usable != kProtocols.end() ? *usable : Proto::simple);
    if (constants_of(transport, first).share <= 0 || (!wanted.protocol && usable == kProtocols.end())) {
      throw InputError("algorithm",
                       "this software stack has no protocol " +
                           (wanted.protocol ? std::string(name_of(first)) : transport.forced.protocols.front()));
    }
    const auto ready = [&](const Algorithm& algorithm, Proto proto) -> const Prepared& {
      return prepared_for({number, operation, algorithm.name, proto, fold}, algorithm, request, placement, fold);
    };
    std::vector<const Prepared*> prepared_first;
    std::vector<Prospect> prospects;
    for (const Algorithm* each : able) {
      const bool own = in_nvswitch(*each) && transport.nvls.share > 0;
      prepared_first.push_back(&ready(*each, own ? Proto::nvls : first));
      prospects.push_back(prepared_first.back()->prospect);
    }
    std::vector<Timing> timings_of(able.size());
    const Choice choice = choose(prospects, bytes, [&](std::size_t i) {
      timings_of[i] = simulate(*prepared_first[i], bytes);
      return timings_of[i].duration;
    });
    Timing best = std::move(timings_of[choice.index]);
    if (wanted.protocol) return best;
    // The other protocols differ in times only: their rates are shares of Simple's, so most sizes need no wiring.
    for (const Proto proto : kProtocols) {
      if (proto == first || !may_use(proto)) continue;
      const Protocol protocol = constants_of(transport, proto);
      for (std::size_t i = 0; i < able.size(); ++i) {
        if (in_nvswitch(*able[i])) continue;
        const double share = constants_of(transport, first).share;
        const Prospect rates{.latency = {},
                             .seconds_per_byte = prospects[i].seconds_per_byte * share / protocol.share,
                             .fixed = fixed(protocol)};
        if (lower_bound(rates, bytes) >= best.duration) continue;
        const Prepared& candidate = ready(*able[i], proto);
        if (lower_bound(candidate.prospect, bytes) >= best.duration) continue;
        Timing timing = simulate(candidate, bytes);
        if (timing.duration < best.duration) best = std::move(timing);
      }
    }
    return best;
  }
};

Timer::Timer(topology::Cluster cluster, Transport transport)
    : impl_(new Impl{.cluster = std::move(cluster),
                     .transport = transport,
                     .mutex = {},
                     .placements = {},
                     .chains = {},
                     .jobs = {},
                     .prepared = {},
                     .timings = {}}) {}

Timer::~Timer() = default;

Timing Timer::time(Operation operation, Bytes bytes, std::span<const Group> concurrent, std::string_view algorithm,
                   bool fold) {
  if (bytes.value < 0) throw std::logic_error("a collective of fewer than 0 bytes");
  const std::size_t number = impl_->number_of(concurrent);
  const Impl::TimingKey key{number, operation, bytes.value, std::string(algorithm), fold};
  {
    const std::lock_guard lock(impl_->mutex);
    const auto known = impl_->timings.find(key);
    if (known != impl_->timings.end()) return known->second;
  }
  Timing fresh = impl_->fresh(operation, bytes, concurrent, algorithm, fold, number);
  const std::lock_guard lock(impl_->mutex);
  return impl_->timings.try_emplace(key, std::move(fresh)).first->second;
}

}  // namespace stepcast::collectives
