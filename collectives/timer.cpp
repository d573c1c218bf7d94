#include "collectives/timer.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>

#include "collectives/algorithms.h"
#include "collectives/chooser.h"
#include "collectives/lower.h"
#include "collectives/placement.h"
#include "collectives/wiring.h"
#include "sim/executor.h"
#include "sim/input_error.h"

namespace stepcast::collectives {
namespace {

/// An algorithm on a placement, ready for any number of bytes.
struct Prepared {
  const Algorithm* algorithm = nullptr;
  Request request;
  Wiring wiring;
  Prospect prospect;  // without launch
  double share = 1;   // of the bytes that one channel carries
};

Bytes carried(const Plan& plan, std::vector<double>& by_route, const Wiring& wiring) {
  std::int64_t total = 0;
  by_route.assign(wiring.routes.size(), 0);
  for (const Transfer& transfer : plan.transfers) {
    const std::int64_t bytes = plan.elements(transfer.chunk);
    total += bytes;
    for (std::uint32_t g = 0; g < wiring.groups; ++g) {
      by_route[g * wiring.connections + index(transfer.connection)] += static_cast<double>(bytes);
    }
  }
  return {total};
}

/// Seconds that the busiest resource, or the most limited route, needs for one byte of the operation's size.
double seconds_per_byte(const Algorithm& algorithm, Request request, const Wiring& wiring) {
  constexpr std::int64_t kReference = std::int64_t{1} << 30;
  request.elements = kReference;
  request.grain = kReference;
  std::vector<double> bytes;
  carried(algorithm.plan(request), bytes, wiring);
  std::vector<double> busy(wiring.capacity.size());
  double most = 0;
  for (std::size_t r = 0; r < wiring.routes.size(); ++r) {
    most = std::max(most, bytes[r] / wiring.routes[r].limit.value);
    for (const sim::Use& use : wiring.routes[r].uses) busy[sim::index(use.resource)] += use.load * bytes[r];
  }
  for (std::size_t i = 0; i < busy.size(); ++i) most = std::max(most, busy[i] / wiring.capacity[i].value);
  // A last bit below: this is compared with simulated times as a lower bound.
  return most / static_cast<double>(kReference) * (1 - 1e-9);
}

/// Pipelining d hops in k pieces takes (d + k - 1) (alpha + w n / k), least at k = sqrt((d - 1) w n / alpha), with w
/// the busiest link's seconds per byte and d told by the latency d alpha.
std::int64_t best_grain(const Prepared& prepared, Bytes bytes, Bytes at_most) {
  Time alpha{};
  for (const sim::Route& route : prepared.wiring.routes) alpha = std::max(alpha, route.latency);
  const double hops = alpha.value > 0 ? prepared.prospect.latency / alpha : 2;
  const double moving = prepared.prospect.seconds_per_byte * static_cast<double>(bytes.value);
  const double waiting = std::max(to_seconds(alpha), 1e-12);
  const double pieces = std::clamp(std::sqrt(std::max(hops - 1, 0.0) * moving / waiting), 1.0, 1e6);
  const double share = static_cast<double>(bytes.value) * prepared.share;
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::ceil(share / pieces)), 1,
                                  std::max<std::int64_t>(at_most.value, 1));
}

}  // namespace

struct Timer::Impl {
  topology::Cluster cluster;
  Transport transport;

  // What has been worked out, guarded by `mutex`; nothing is ever removed, and nodes of a map stay where they are.
  using Members = std::vector<Group>;
  using PreparedKey = std::tuple<std::size_t, Operation, std::string_view, bool>;
  using TimingKey = std::tuple<std::size_t, Operation, std::int64_t, std::string, bool>;
  std::mutex mutex;
  std::map<Members, std::size_t> placements;
  std::map<PreparedKey, Prepared> prepared;
  std::map<TimingKey, Timing> timings;

  std::size_t number_of(std::span<const Group> groups) {
    Members members(groups.begin(), groups.end());
    const std::lock_guard lock(mutex);
    return placements.try_emplace(std::move(members), placements.size()).first->second;
  }

  /// The smallest simulation that is exact: turned and shifted, shifted, or as it is; with groups standing for others.
  Prepared prepare(const Algorithm& algorithm, const Request& request, const Placement& placement, bool fold) const {
    std::vector<Symmetry> symmetries;
    if (fold) {
      const Symmetry most = algorithm.symmetry(request);
      if (most.rotate) symmetries.push_back(most);
      if (most.period != 0) symmetries.push_back({most.period, false});
    }
    symmetries.push_back({});
    const auto groups = static_cast<std::uint32_t>(placement.groups.size());
    std::vector<std::uint32_t> strides;
    for (const std::uint32_t stride : {1u, 2u, 4u, 8u}) {
      if (fold && stride < groups && groups % stride == 0) strides.push_back(stride);
    }
    strides.push_back(groups);
    Prepared result;
    result.algorithm = &algorithm;
    result.request = request;
    for (const Symmetry symmetry : symmetries) {
      result.request.fold = symmetry;
      const Plan plan = algorithm.plan(result.request);
      for (const std::uint32_t stride : strides) {
        if (auto wiring = wire(plan, placement, cluster, transport, symmetry, stride)) {
          result.wiring = std::move(*wiring);
          result.prospect.latency = sim::run(lower(plan, result.wiring)).end;
          result.prospect.seconds_per_byte = seconds_per_byte(algorithm, result.request, result.wiring);
          std::uint32_t channels = 1;
          for (const Connection& c : plan.connections) channels = std::max(channels, c.channel + 1);
          result.share = 1.0 / channels;
          return result;
        }
      }
    }
    throw std::logic_error("a whole plan that cannot be wired");
  }

  const Prepared& prepared_for(const PreparedKey& key, const Algorithm& algorithm, const Request& request,
                               const Placement& placement, bool fold) {
    {
      const std::lock_guard lock(mutex);
      const auto known = prepared.find(key);
      if (known != prepared.end()) return known->second;
    }
    Prepared fresh = prepare(algorithm, request, placement, fold);
    const std::lock_guard lock(mutex);
    return prepared.try_emplace(key, std::move(fresh)).first->second;
  }

  Timing simulate(const Prepared& prepared_algorithm, Bytes bytes) const {
    const Wiring& wiring = prepared_algorithm.wiring;
    Request request = prepared_algorithm.request;
    request.elements = bytes.value;
    request.grain = best_grain(prepared_algorithm, bytes, transport.chunk);
    const Plan plan = prepared_algorithm.algorithm->plan(request);
    const sim::Timeline timeline = sim::run(lower(plan, wiring));
    Timing timing{.duration = transport.launch + timeline.end,
                  .latency = transport.launch + prepared_algorithm.prospect.latency,
                  .algorithm = std::string(prepared_algorithm.algorithm->name),
                  .loads = {}};
    for (std::size_t resource = 0; resource < wiring.members.size(); ++resource) {
      for (const topology::LinkId link : wiring.members[resource]) {
        timing.loads.push_back({link, timeline.carried[resource]});
      }
    }
    if (!wiring.aside.empty()) {
      std::vector<double> by_route;
      carried(plan, by_route, wiring);
      std::map<topology::LinkId, double> aside;
      for (const Wiring::Aside& use : wiring.aside) aside[use.link] += use.load * by_route[use.route];
      for (const auto& [link, amount] : aside) timing.loads.push_back({link, amount});
    }
    std::ranges::sort(timing.loads, {}, &Timing::Load::link);
    return timing;
  }

  Timing fresh(Operation operation, Bytes bytes, std::span<const Group> concurrent, std::string_view name, bool fold,
               std::size_t number) {
    const Placement placement = place(cluster, concurrent);
    if (name != "auto") algorithm(name);  // unknown: throws
    if (placement.ranks == 1) return {{}, {}, std::string(name), {}};
    Request request{.operation = operation,
                    .ranks = placement.ranks,
                    .elements = 0,
                    .nodes = placement.nodes,
                    .channels = 1,
                    .grain = std::max<std::int64_t>(transport.chunk.value, 1),
                    .fold = {}};
    if (request.nodes > 1) request.channels = request.gpus();

    std::vector<const Algorithm*> candidates;
    if (name != "auto") {
      const Algorithm& wanted = algorithm(name);
      if (!wanted.supports(request)) {
        throw InputError("algorithm", "'" + std::string(name) + "' cannot do " +
                                          std::string(collectives::name(operation)) + " over " +
                                          std::to_string(placement.ranks) + " ranks");
      }
      candidates.push_back(&wanted);
    } else {
      for (const Algorithm* each : algorithms()) {
        if (each->automatic(operation) && each->supports(request)) candidates.push_back(each);
      }
      if (candidates.empty()) {
        throw InputError("algorithm", "none can do " + std::string(collectives::name(operation)) + " over " +
                                          std::to_string(placement.ranks) + " ranks");
      }
    }
    std::vector<const Prepared*> ready;
    std::vector<Prospect> prospects;
    for (const Algorithm* each : candidates) {
      ready.push_back(&prepared_for({number, operation, each->name, fold}, *each, request, placement, fold));
      prospects.push_back(ready.back()->prospect);
    }
    std::vector<Timing> timings_of(candidates.size());
    const Choice choice = choose(prospects, bytes, [&](std::size_t i) {
      timings_of[i] = simulate(*ready[i], bytes);
      return timings_of[i].duration - transport.launch;
    });
    return std::move(timings_of[choice.index]);
  }
};

Timer::Timer(topology::Cluster cluster, Transport transport)
    : impl_(new Impl{.cluster = std::move(cluster),
                     .transport = transport,
                     .mutex = {},
                     .placements = {},
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
