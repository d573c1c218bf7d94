#include "collectives/timing/transfers.h"

#include <algorithm>
#include <cmath>

#include "collectives/timing/prepared.h"

namespace stepcast::collectives {
namespace {

/// What one flow over a route could reach alone.
double rate_alone(const sim::Route& route, const Wiring& wiring) {
  double rate = route.limit.value;
  for (const sim::Use& use : route.uses)
    rate = std::min(rate, wiring.capacity[sim::index(use.resource)].value / use.load);
  return rate;
}

}  // namespace

Transfers transfers_of(const Prepared& prepared, const Transport& transport, Bytes bytes, std::uint32_t group) {
  const Cut made = cut(prepared, transport, bytes);
  const Wiring& wiring = prepared.wiring;
  const Plan plan = prepared.algorithm->plan(made.request);
  Transfers out{.before = made.before, .connections = wiring.connections, .ways = {}, .transfers = {}, .after = {}};
  for (std::uint32_t c = 0; c < wiring.connections; ++c) {
    const sim::Route& route = wiring.routes[group * wiring.connections + c];
    Transfers::Way& way = out.ways.emplace_back();
    way.latency = route.latency;
    way.ahead = wiring.ahead[group * wiring.connections + c];
    way.limit = route.limit * made.scale;
    for (const sim::Use& use : route.uses) {
      const topology::LinkId link = wiring.members[sim::index(use.resource)].front();
      const double raw = wiring.bandwidth[sim::index(use.resource)].value;
      way.hops.push_back({link, use.load, wiring.capacity[sim::index(use.resource)].value * made.scale / raw});
    }
  }
  std::vector<std::int64_t> sent(wiring.connections, 0);
  out.transfers.reserve(plan.transfers.size());
  for (std::uint32_t t = 0; t < plan.transfers.size(); ++t) {
    const Transfer& transfer = plan.transfers[t];
    const std::uint32_t connection = index(transfer.connection);
    for (const TransferId earlier : plan.after(TransferId{t})) out.after.push_back(index(earlier));
    const std::int64_t elements = plan.elements(transfer.chunk);
    out.transfers.push_back({connection, connection, elements, static_cast<std::uint32_t>(out.after.size())});
    sent[connection] += elements;
  }
  if (made.pieces_behind == 0) return out;
  const double simulated = made.request.pieces;
  for (std::uint32_t c = 0; c < wiring.connections; ++c) {
    const sim::Route& route = wiring.routes[group * wiring.connections + c];
    const double piece = static_cast<double>(sent[c]) / simulated;
    const double seconds = to_seconds(route.latency) + piece / (rate_alone(route, wiring) * made.scale);
    Transfers::Way behind = out.ways[c];
    behind.latency = behind.ahead = {};
    if (piece > 0) behind.limit = {piece / seconds};
    out.ways.push_back(std::move(behind));
    out.transfers.push_back({c, wiring.connections + c, std::llround(piece * made.pieces_behind),
                             static_cast<std::uint32_t>(out.after.size())});
  }
  return out;
}

}  // namespace stepcast::collectives
