#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "collectives/algorithm.h"

namespace stepcast::collectives {

inline constexpr std::uint32_t kNoParent = 0xffffffffu;

/// The parent of each rank (or node); kNoParent at the root.
using Tree = std::vector<std::uint32_t>;

/// The two trees over n nodes of which a node forwards in one only: the in-order binary tree, and it mirrored (n even)
/// or turned by one (n odd). Sanders, Speck and Traeff, Parallel Computing 35(12), 2009.
Tree first_tree(std::uint32_t n);
Tree second_tree(const Tree& first);

/// All ranks (or nodes), each after its parent.
std::vector<std::uint32_t> top_down(const Tree& tree);

/// A tree over nodes made one over ranks: in each node the GPUs form a chain that starts at its GPU `leader`, and
/// leaders are joined as their nodes are. With `from_rank_0`, for operations with a root: the chain of node 0 starts at
/// its GPU 0 instead, while the other nodes still hang below its GPU `leader`. Requires node 0 to be the root then.
Tree with_chains(const Tree& nodes, std::uint32_t gpus, std::uint32_t leader, bool from_rank_0);

/// The same tree with its chains started at the other end: each GPU's neighbours in the node change sides.
Tree with_chains_backwards(const Tree& nodes, std::uint32_t gpus, std::uint32_t leader);

/// One tree per channel, each for its share of the elements, cut into pieces: all_reduce adds them up towards the root
/// and copies the sum back, broadcast and reduce do one of the two. Requires as many trees for every channel of the
/// request, those of one channel together; folded by rotation, only those of channel 0 are planned.
Plan plan_trees(const Request& request, const std::vector<Tree>& trees);

/// Likewise with a share of the elements for each tree, of whatever sizes; never folded.
Plan plan_trees(const Request& request, const std::vector<Tree>& trees, std::span<const Range> shares);

/// Trees differ from node to node, but channel k + 1's are channel k's with each node turned by one GPU.
Symmetry tree_symmetry(const Request& request);

}  // namespace stepcast::collectives
