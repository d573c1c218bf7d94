#include "schedules/step/wires.h"

#include <algorithm>
#include <stdexcept>
#include <unordered_map>
#include <utility>

namespace stepcast::schedules {
namespace {

// A collective that fills a link by itself must not be slowed by rounding in its own load.
constexpr double kHeadroom = 1 + 1e-9;

}  // namespace

WireId Wires::declare(const collectives::Timing& timing, Time more_latency) {
  if (shared_) throw std::logic_error("a collective declared after the links were shared out");
  const Time latency = std::min(timing.latency, timing.duration);
  wires_.push_back({latency + more_latency, timing.duration - latency, timing.loads, {}});
  return WireId{static_cast<std::uint32_t>(wires_.size() - 1)};
}

void Wires::share_links(sim::TaskGraph& graph) {
  using Loads = std::vector<std::pair<std::size_t, double>>;  // wire, bytes per picosecond of its flow
  std::unordered_map<std::uint32_t, Loads> links;
  for (std::size_t w = 0; w < wires_.size(); ++w) {
    if (wires_[w].flow.value == 0) continue;
    for (const auto& load : wires_[w].loads) {
      if (load.bytes <= 0) continue;
      Loads& on_link = links[topology::index(load.link)];
      const double rate = load.bytes / static_cast<double>(wires_[w].flow.value);
      if (!on_link.empty() && on_link.back().first == w)
        on_link.back().second += rate;
      else
        on_link.emplace_back(w, rate);
    }
  }
  std::map<std::pair<Loads, double>, sim::ResourceId> constraints;
  std::vector<std::uint32_t> order;
  for (const auto& [link, on_link] : links)
    if (on_link.size() > 1) order.push_back(link);
  std::sort(order.begin(), order.end());
  for (const std::uint32_t link : order) {
    const Loads& on_link = links[link];
    const double speed = slow_ != nullptr ? slow_->speed(topology::LinkId{link}) : 1;
    const double capacity = cluster_.link_bandwidth(topology::LinkId{link}).value * speed * kHeadroom;
    double together = 0;
    for (const auto& [w, rate] : on_link) together += rate * kPicosecondsPerSecond;
    if (together <= capacity) continue;  // never full
    const auto [at, fresh] = constraints.try_emplace({on_link, capacity}, sim::ResourceId{});
    if (!fresh) continue;
    at->second = graph.add_resource({capacity});
    for (const auto& [w, rate] : on_link) wires_[w].uses.push_back({at->second, rate});
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
