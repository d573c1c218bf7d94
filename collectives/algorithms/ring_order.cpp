#include "collectives/algorithms/ring_order.h"

namespace stepcast::collectives {
namespace {

bool walks_back(const Request& request, std::uint32_t node) { return request.nodes % 2 == 0 && node % 2 == 1; }

}  // namespace

RingOrder::RingOrder(const Request& request, std::uint32_t channel) : rank_(request.ranks), position_(request.ranks) {
  const std::uint32_t gpus = request.gpus();
  std::uint32_t position = 0;
  for (std::uint32_t node = 0; node < request.nodes; ++node) {
    for (std::uint32_t step = 0; step < gpus; ++step, ++position) {
      const std::uint32_t turn = walks_back(request, node) ? gpus - 1 - step : step;
      const std::uint32_t local = request.chains.empty() ? (channel + turn) % gpus : request.chains[channel][turn];
      rank_[position] = node * gpus + local;
      position_[rank_[position]] = position;
    }
  }
}

Symmetry ring_symmetry(const Request& request) {
  const std::uint32_t gpus = request.gpus();
  if (request.nodes == 1 && !request.chains.empty()) return {};
  if (request.nodes == 1 || gpus == 1) return {.period = 1, .rotate = false};
  return {.period = request.nodes % 2 == 0 ? 2 * gpus : gpus,
          .rotate = request.channels == gpus && request.chains.empty()};
}

}  // namespace stepcast::collectives
