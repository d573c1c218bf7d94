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

WireId Wires::declare(const collectives::Timing& timing, Time more_latency) {
  if (shared_) throw std::logic_error("a collective declared after the links were shared out");
  wires_.push_back({more_latency, timing.duration, timing.loads, {}});
  return WireId{static_cast<std::uint32_t>(wires_.size() - 1)};
}

void Wires::share_links(sim::TaskGraph& graph) {
  using Loads = std::vector<std::pair<std::size_t, double>>;  // wire, bytes per picosecond of its flow
  // Each wire's loads are in the order of their links, and a large cluster has millions of them: all wires are walked
  // at once, over so many links at a time. O(loads + wires x links / kLinksAtOnce)
  constexpr std::uint32_t kLinksAtOnce = 1024;
  struct Walk {
    std::size_t wire;
    double flow;
    const collectives::Timing::Load *next, *end;
  };
  std::vector<Walk> walks;
  for (std::size_t w = 0; w < wires_.size(); ++w) {
    std::vector<collectives::Timing::Load>& loads = wires_[w].loads;
    if (wires_[w].flow.value == 0 || loads.empty()) continue;
    if (!std::ranges::is_sorted(loads, {}, &collectives::Timing::Load::link))
      std::ranges::stable_sort(loads, {}, &collectives::Timing::Load::link);
    walks.push_back({w, static_cast<double>(wires_[w].flow.value), loads.data(), loads.data() + loads.size()});
  }
  std::map<std::pair<Loads, double>, sim::ResourceId> constraints;
  const auto share = [&](topology::LinkId link, const Loads& on_link) {
    if (on_link.size() < 2) return;
    const double speed = slow_ != nullptr ? slow_->speed(link) : 1;
    const double capacity = cluster_.link_bandwidth(link).value * speed * kHeadroom;
    double together = 0;
    for (const auto& [w, rate] : on_link) together += rate * kPicosecondsPerSecond;
    if (together <= capacity) return;  // never full
    const auto [at, fresh] = constraints.try_emplace({on_link, capacity}, sim::ResourceId{});
    if (!fresh) return;
    at->second = graph.add_resource({capacity});
    for (const auto& [w, rate] : on_link) wires_[w].uses.push_back({at->second, rate});
  };
  std::vector<Loads> on_links(kLinksAtOnce);
  for (std::uint32_t first = 0; !walks.empty(); first += kLinksAtOnce) {
    for (Walk& walk : walks)
      for (; walk.next != walk.end && index(walk.next->link) - first < kLinksAtOnce; ++walk.next) {
        if (!(walk.next->bytes > 0)) continue;
        const double rate = walk.next->bytes / walk.flow;
        Loads& on_link = on_links[index(walk.next->link) - first];
        if (!on_link.empty() && on_link.back().first == walk.wire)
          on_link.back().second += rate;
        else
          on_link.push_back({walk.wire, rate});
      }
    std::erase_if(walks, [](const Walk& walk) { return walk.next == walk.end; });
    for (std::uint32_t at = 0; at < kLinksAtOnce; ++at) {
      share(topology::LinkId{first + at}, on_links[at]);
      on_links[at].clear();
    }
  }
  shared_ = true;
}

sim::RouteId Wires::route(sim::TaskGraph& graph, WireId wire, std::span<const sim::ResourceId> engines,
                          double slowdown) {
  if (!shared_) share_links(graph);
  const Wire& w = wires_[static_cast<std::size_t>(wire)];
  sim::Route route{w.uses, w.latency, {kPicosecondsPerSecond}, 1.0};
  if (slowdown > 0)
    for (const sim::ResourceId engine : engines) route.uses.push_back({engine, slowdown});
  return graph.add_route(std::move(route));
}

}  // namespace stepcast::schedules
