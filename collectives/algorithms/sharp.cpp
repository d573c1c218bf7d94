#include "collectives/algorithm.h"

namespace stepcast::collectives {
namespace {

/// One share for each local index. In a node the others hand it to the GPU of that index, which pushes the node's sum
/// into the network; the switch there adds and sends the sum back to every node's GPU, which hands it on. n / G up and
/// n / G down at every NIC, instead of a ring's 2 (N - 1) / N n / G each way.
CollectivePlan plan_sharp(const Request& request) {
  const std::uint32_t nodes = request.nodes, gpus = request.gpus(), n = request.ranks;
  const std::uint32_t planned_nodes = request.fold.period != 0 ? 1 : nodes, planned = planned_nodes * gpus;
  CollectivePlan plan;
  plan.ranks = n;
  plan.switches = gpus;
  plan.pieces = request.pieces;
  for (std::uint32_t share = 0; share < (request.fold.rotate ? 1 : gpus); ++share) {
    const std::uint32_t fabric = n + share;
    std::vector<ConnectionId> gather(planned), spread(planned), up(planned_nodes), down(planned_nodes);
    for (std::uint32_t node = 0; node < planned_nodes; ++node) {
      const std::uint32_t leader = node * gpus + share;
      for (std::uint32_t rank = node * gpus; rank < (node + 1) * gpus; ++rank) {
        if (rank == leader) continue;
        gather[rank] = plan.connect(rank, leader, share);
        spread[rank] = plan.connect(leader, rank, share);
      }
      up[node] = plan.connect(leader, fabric, share);
      down[node] = plan.connect(fabric, leader, share);
    }
    std::vector<TransferId> gathered, pushed(planned_nodes);
    for (std::uint32_t piece = 0; piece < request.pieces; ++piece) {
      const ChunkId chunk = plan.add_chunk(part(part(request.all(), gpus, share), request.pieces, piece));
      for (std::uint32_t node = 0; node < planned_nodes; ++node) {
        gathered.clear();
        for (std::uint32_t rank = node * gpus; rank < (node + 1) * gpus; ++rank) {
          if (rank % gpus != share) gathered.push_back(plan.add({gather[rank], chunk, Effect::reduce}));
        }
        pushed[node] = plan.add({up[node], chunk, Effect::reduce}, gathered);
      }
      for (std::uint32_t node = 0; node < planned_nodes; ++node) {
        const TransferId sum = plan.add({down[node], chunk, Effect::copy}, pushed);
        for (std::uint32_t rank = node * gpus; rank < (node + 1) * gpus; ++rank) {
          if (rank % gpus != share) plan.add({spread[rank], chunk, Effect::copy}, {sum});
        }
      }
    }
  }
  return plan;
}

/// All nodes do the same, and the switch is at every node's end of the network.
Symmetry symmetry_of_sharp(const Request& request) {
  const bool turns = request.gpus() > 1 && request.channels == request.gpus() && request.chains.empty();
  return {.period = request.gpus(), .rotate = turns};
}

}  // namespace

extern const Algorithm sharp;
constinit const Algorithm sharp{
    .name = "sharp",
    .summary = "in-network reduction: the fabric's switches add what the nodes push and send the sum back",
    .source = "Graham et al., SHARP, COMHPC 2016; NCCL's CollNet for the share of each local index",
    .simple_alone = true,
    .needs = "several nodes whose fabric's switches add (in_network_reduction: true)",
    .automatic = [](const Request& request) { return request.in_network_reduction; },
    .supports =
        [](const Request& request) {
          return request.operation == Operation::all_reduce && request.nodes >= 2 && request.in_network_reduction;
        },
    .plan = plan_sharp,
    .symmetry = symmetry_of_sharp};

}  // namespace stepcast::collectives
