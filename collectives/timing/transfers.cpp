#include "collectives/timing/transfers.h"

#include <cmath>

#include "collectives/timing/prepared.h"

namespace stepcast::collectives {

Transfers transfers_of(const Prepared& prepared, const Transport& transport, Bytes bytes, std::uint32_t group) {
  const Cut made = cut(prepared, transport, bytes);
  const Wiring& wiring = prepared.wiring;
  const std::size_t first = std::size_t{group} * wiring.connections;
  Transfers out{.before = made.before,
                .plan = prepared.algorithm->plan(made.request),
                .ways = {},
                .ahead = {wiring.ahead.begin() + static_cast<std::ptrdiff_t>(first),
                          wiring.ahead.begin() + static_cast<std::ptrdiff_t>(first + wiring.connections)},
                .behind = {}};
  for (std::size_t r = first; r < first + wiring.connections; ++r) {
    const sim::Route& route = wiring.routes[r];
    Transfers::Way& way = out.ways.emplace_back();
    way.latency = route.latency;
    way.limit = route.limit * made.scale;
    for (const sim::Use& use : route.uses) {
      const topology::LinkId link = wiring.members[sim::index(use.resource)].front();
      const double raw = wiring.bandwidth[sim::index(use.resource)].value;
      way.hops.push_back({link, use.load, wiring.capacity[sim::index(use.resource)].value * made.scale / raw});
    }
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
    behind.bytes = {std::llround(piece * made.pieces_behind)};
    behind.limit = piece > 0 ? Bandwidth{piece / seconds} : out.ways[c].limit;
  }
  return out;
}

}  // namespace stepcast::collectives
