#include "collectives/algorithms/servers.h"

namespace stepcast::collectives {

CollectivePlan plan_servers(const Request& request, std::span<const std::uint32_t> servers) {
  const std::uint32_t workers = request.ranks - request.servers, shares = static_cast<std::uint32_t>(servers.size());
  CollectivePlan plan;
  plan.ranks = request.ranks;
  plan.pieces = request.pieces;
  std::vector<TransferId> pushed;
  for (std::uint32_t share = 0; share < shares; ++share) {
    const std::uint32_t server = servers[share];
    std::vector<ConnectionId> push(workers), pull(workers);
    for (std::uint32_t worker = 0; worker < workers; ++worker) {
      if (worker == server) continue;
      push[worker] = plan.connect(worker, server, 0);
      pull[worker] = plan.connect(server, worker, 0);
    }
    for (std::uint32_t piece = 0; piece < request.pieces; ++piece) {
      const ChunkId chunk = plan.add_chunk(part(part(request.all(), shares, share), request.pieces, piece));
      pushed.clear();
      for (std::uint32_t worker = 0; worker < workers; ++worker) {
        if (worker != server) pushed.push_back(plan.add({push[worker], chunk, Effect::reduce}));
      }
      for (std::uint32_t worker = 0; worker < workers; ++worker) {
        if (worker != server) plan.add({pull[worker], chunk, Effect::copy}, pushed);
      }
    }
  }
  return plan;
}

}  // namespace stepcast::collectives
