#include "collectives/algorithm.h"
#include "collectives/algorithms/trees.h"

namespace stepcast::collectives {
namespace {

/// In every node the GPU of local index k owns share k. The node's NVSwitch adds what its GPUs push and hands the
/// owner the sum; the owners of a share are joined by two trees over the nodes, half of the share each; the total is
/// written back to the switch, which copies it to the node. At two nodes n / G each way at every NIC, where a ring
/// sends 2 (P - 1) / P n / G; at many nodes 2 n / G, as a ring.
CollectivePlan plan_nvls_tree(const Request& request) {
  const std::uint32_t gpus = request.gpus(), nodes = request.nodes, n = request.ranks;
  const Tree first = first_tree(nodes), second = second_tree(first);
  CollectivePlan plan;
  plan.ranks = n;
  plan.switches = nodes;
  plan.switches_at = SwitchesAt::nodes;
  plan.pieces = request.pieces;
  for (std::uint32_t owner = 0; owner < (request.fold.rotate ? 1 : gpus); ++owner) {
    const auto owner_of = [&](std::uint32_t node) { return node * gpus + owner; };
    for (const bool half : {false, true}) {
      const Tree& tree = half ? second : first;
      std::vector<ConnectionId> push(n), down(n), write(nodes);
      for (std::uint32_t rank = 0; rank < n; ++rank) {
        push[rank] = plan.connect(rank, n + rank / gpus, owner);
        down[rank] = plan.connect(n + rank / gpus, rank, owner);
      }
      for (std::uint32_t node = 0; node < nodes; ++node) write[node] = plan.connect(owner_of(node), n + node, owner);
      const std::vector<std::uint32_t> order = top_down(tree);
      std::vector<ConnectionId> to_parent(nodes), from_parent(nodes);
      for (std::uint32_t node = 0; node < nodes; ++node) {
        if (tree[node] == kNoParent) continue;
        to_parent[node] = plan.connect(owner_of(node), owner_of(tree[node]), owner);
        from_parent[node] = plan.connect(owner_of(tree[node]), owner_of(node), owner);
      }
      const Range share = part(part(request.all(), gpus, owner), 2, half);
      std::vector<std::vector<TransferId>> arrived(nodes);  // what an owner must have before it sends on
      std::vector<TransferId> sum(nodes), pushed(gpus);
      for (std::uint32_t piece = 0; piece < request.pieces; ++piece) {
        const ChunkId chunk = plan.add_chunk(part(share, request.pieces, piece));
        for (std::uint32_t node = 0; node < nodes; ++node) {
          for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) {
            pushed[gpu] = plan.add({push[node * gpus + gpu], chunk, Effect::reduce});
          }
          sum[node] = plan.add({down[owner_of(node)], chunk, Effect::copy}, pushed);
          arrived[node] = {sum[node]};
        }
        for (auto node = order.rbegin(); node != order.rend(); ++node) {
          if (tree[*node] == kNoParent) continue;
          arrived[*node].push_back(sum[tree[*node]]);  // there must be a sum to add to
          arrived[tree[*node]].push_back(plan.add({to_parent[*node], chunk, Effect::reduce}, arrived[*node]));
        }
        for (const std::uint32_t node : order) {
          if (tree[node] != kNoParent) {
            arrived[node] = {plan.add({from_parent[node], chunk, Effect::copy}, arrived[tree[node]])};
          }
          const TransferId written = plan.add({write[node], chunk, Effect::copy}, arrived[node]);
          for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) {
            if (gpu != owner) plan.add({down[node * gpus + gpu], chunk, Effect::copy}, {written});
          }
        }
      }
    }
  }
  return plan;
}

}  // namespace

extern const Algorithm nvls_tree;
constinit const Algorithm nvls_tree{
    .name = "nvls-tree",
    .summary = "NVLink SHARP in every node, and two trees over the nodes for the share of each local index",
    .source = "Klenk et al., ISCA 2020; Sanders et al., Parallel Computing 35(12), 2009; NCCL 2.18's NVLSTree",
    .in_nvswitch = true,
    .needs = "several nodes whose NVSwitches add (nvlink_sharp: true)",
    .automatic = [](const Request&) { return false; },
    .supports =
        [](const Request& request) {
          return request.operation == Operation::all_reduce && request.nodes >= 2 && request.gpus() >= 2 &&
                 request.nvlink_sharp;
        },
    .plan = plan_nvls_tree,
    .symmetry = tree_symmetry};

}  // namespace stepcast::collectives
