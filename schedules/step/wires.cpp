#include "schedules/step/wires.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

namespace stepcast::schedules {
namespace {

// A collective that fills a link by itself must not be slowed by rounding in its own load.
constexpr double kHeadroom = 1 + 1e-9;

}  // namespace

std::size_t Wires::kind_of(const collectives::Timing& timing) {
  const auto same = [](const collectives::Timing::Load& a, const collectives::Timing::Load& b) {
    return a.link == b.link && a.bytes == b.bytes;
  };
  const auto [first, last] = by_duration_.equal_range(timing.duration);
  for (auto known = first; known != last; ++known)
    if (std::ranges::equal(kinds_[known->second].loads, timing.loads, same)) return known->second;
  by_duration_.emplace(timing.duration, kinds_.size());
  kinds_.push_back({timing.duration, timing.loads});
  return kinds_.size() - 1;
}

WireId Wires::declare(const collectives::Timing& timing, Time more_latency) {
  if (shared_) throw std::logic_error("a collective declared after the links were shared out");
  const std::size_t kind = kind_of(timing);
  kinds_[kind].wires.push_back(wires_.size());
  wires_.push_back({more_latency, kind});
  return WireId{static_cast<std::uint32_t>(wires_.size() - 1)};
}

void Wires::share_links() {
  using Loads = std::vector<std::pair<std::size_t, double>>;  // kind, bytes per picosecond of its flow
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
    if (kinds_[k].flow.value == 0 || loads.empty()) continue;
    if (!std::ranges::is_sorted(loads, {}, &collectives::Timing::Load::link))
      std::ranges::stable_sort(loads, {}, &collectives::Timing::Load::link);
    walks.push_back({k, static_cast<double>(kinds_[k].flow.value), loads.data(), loads.data() + loads.size()});
  }
  std::map<std::pair<Loads, double>, sim::ResourceId> constraints;
  const auto share = [&](topology::LinkId link, const Loads& on_link) {
    if (on_link.empty() || (on_link.size() == 1 && kinds_[on_link.front().first].wires.size() == 1)) return;
    const double speed = slow_ != nullptr ? slow_->speed(link) : 1;
    const double capacity = cluster_.link_bandwidth(link).value * speed * kHeadroom;
    double together = 0;
    for (const auto& [k, rate] : on_link)
      together += rate * kPicosecondsPerSecond * static_cast<double>(kinds_[k].wires.size());
    if (together <= capacity) return;  // never full
    const auto [at, fresh] = constraints.try_emplace({on_link, capacity}, sim::ResourceId{});
    if (!fresh) return;
    at->second = sim::ResourceId{static_cast<std::uint32_t>(capacities_.size())};
    capacities_.push_back({capacity});
    for (const auto& [k, rate] : on_link)
      for (const std::size_t wire : kinds_[k].wires) wires_[wire].uses.push_back({at->second, rate});
  };
  std::vector<Loads> on_links(kLinksAtOnce);
  for (std::uint32_t first = 0; !walks.empty(); first += kLinksAtOnce) {
    for (Walk& walk : walks)
      for (; walk.next != walk.end && index(walk.next->link) - first < kLinksAtOnce; ++walk.next) {
        if (!(walk.next->bytes > 0)) continue;
        const double rate = walk.next->bytes / walk.flow;
        Loads& on_link = on_links[index(walk.next->link) - first];
        if (!on_link.empty() && on_link.back().first == walk.kind)
          on_link.back().second += rate;
        else
          on_link.push_back({walk.kind, rate});
      }
    std::erase_if(walks, [](const Walk& walk) { return walk.next == walk.end; });
    for (std::uint32_t at = 0; at < kLinksAtOnce; ++at) {
      share(topology::LinkId{first + at}, on_links[at]);
      on_links[at].clear();
    }
  }
  shared_ = true;
}

void Wires::enter(sim::TaskGraph& graph) {
  if (!shared_) share_links();
  first_resource_ = static_cast<std::uint32_t>(graph.resources().size());
  for (const Bandwidth capacity : capacities_) graph.add_resource(capacity);
}

sim::RouteId Wires::route(sim::TaskGraph& graph, WireId wire, std::span<const sim::ResourceId> engines,
                          double slowdown) const {
  const Wire& w = wires_[static_cast<std::size_t>(wire)];
  sim::Route route{w.uses, w.latency, {kPicosecondsPerSecond}, 1.0};
  for (sim::Use& use : route.uses) use.resource = sim::ResourceId{first_resource_ + index(use.resource)};
  if (slowdown > 0)
    for (const sim::ResourceId engine : engines) route.uses.push_back({engine, slowdown});
  return graph.add_route(std::move(route));
}

}  // namespace stepcast::schedules
