#include "collectives/timing/transfers.h"

#include <algorithm>
#include <cmath>

#include "collectives/timing/paths.h"
#include "collectives/timing/prepared.h"

namespace stepcast::collectives {
namespace {

/// All that a path crosses, links in nodes first. A link that it crosses twice is one hop.
std::vector<Transfers::LinkUse> hops_of(const topology::Path& path, const topology::Cluster& cluster) {
  std::vector<Transfers::LinkUse> hops;
  for (const bool in_fabric : {false, true})
    for (std::size_t i = 0; i < path.links.size(); ++i) {
      const topology::LinkId link = path.links[i];
      if ((index(link) >= cluster.first_fabric_link()) != in_fabric) continue;
      const auto known = std::ranges::find(hops, link, &Transfers::LinkUse::link);
      if (known != hops.end())
        known->load += path.loads[i];
      else
        hops.push_back({.link = link, .load = path.loads[i]});
    }
  return hops;
}

}  // namespace

Transfers transfers_of(const Prepared& prepared, const Transport& transport, Bytes bytes,
                       const topology::Cluster& cluster, const std::vector<topology::GpuId>& group,
                       std::uint32_t place) {
  const Cut made = cut(prepared, transport, bytes);
  const Wiring& wiring = prepared.wiring;
  const std::size_t first = std::size_t{place} * wiring.connections;
  Transfers out{
      .before = made.before, .plan = prepared.algorithm->plan(made.request), .ways = {}, .ahead = {}, .behind = {}};
  for (std::uint32_t c = 0; c < wiring.connections; ++c) {
    Transfers::ConnectionRoute& way = out.ways.emplace_back();
    way.latency = wiring.occupancy;
    way.limit = wiring.routes.limit(first + c) * made.scale;
    way.hops = hops_of(path_of(out.plan, out.plan.connections[c], cluster, group, made.request.gpus()), cluster);
    for (Transfers::LinkUse& hop : way.hops) {
      const auto known =
          std::ranges::lower_bound(prepared.resources, hop.link, {}, [](const auto& of) { return of.first; });
      hop.share = wiring.capacity[known->second].value * made.scale / wiring.bandwidth[known->second].value;
    }
    out.ahead.push_back(wiring.ahead(first + c));
  }
  if (made.pieces_behind == 0) return out;
  std::vector<std::int64_t> sent(wiring.connections, 0);
  for (const Transfer& transfer : out.plan.transfers)
    sent[index(transfer.connection)] += out.plan.elements(transfer.chunk);
  const double simulated = made.request.pieces;
  for (std::uint32_t c = 0; c < wiring.connections; ++c) {
    const double piece = static_cast<double>(sent[c]) / simulated;
    const double seconds = to_seconds(out.ways[c].latency) + piece / (wiring.alone(first + c).value * made.scale);
    Transfers::Behind& behind = out.behind.emplace_back();
    behind.bytes = {std::llround(static_cast<double>(sent[c]) * (made.whole - 1))};
    behind.limit = piece > 0 ? Bandwidth{piece / seconds} : out.ways[c].limit;
  }
  return out;
}

}  // namespace stepcast::collectives
