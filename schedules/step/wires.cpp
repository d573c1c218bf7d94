#include "schedules/step/wires.h"

#include <algorithm>
#include <map>
#include <numeric>
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
  const auto each_load = [&](const auto& visit) {
    for (std::size_t w = 0; w < wires_.size(); ++w) {
      if (wires_[w].flow.value == 0) continue;
      for (const auto& load : wires_[w].loads)
        if (load.bytes > 0)
          visit(topology::index(load.link), w, load.bytes / static_cast<double>(wires_[w].flow.value));
    }
  };
  // Link by link: counted, then placed, since a large cluster has millions of them.
  std::vector<std::size_t> first(1, 0);
  each_load([&](std::uint32_t link, std::size_t, double) {
    if (first.size() < link + std::size_t{2}) first.resize(link + std::size_t{2}, 0);
    ++first[link + 1];
  });
  std::partial_sum(first.begin(), first.end(), first.begin());
  Loads placed(first.back());
  std::vector<std::size_t> next = first;
  each_load([&](std::uint32_t link, std::size_t w, double rate) { placed[next[link]++] = {w, rate}; });
  std::map<std::pair<Loads, double>, sim::ResourceId> constraints;
  Loads on_link;
  for (std::uint32_t link = 0; link + 1 < first.size(); ++link) {
    if (first[link + 1] - first[link] < 2) continue;
    on_link.clear();
    for (std::size_t i = first[link]; i < first[link + 1]; ++i) {
      if (!on_link.empty() && on_link.back().first == placed[i].first)
        on_link.back().second += placed[i].second;
      else
        on_link.push_back(placed[i]);
    }
    if (on_link.size() < 2) continue;
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
