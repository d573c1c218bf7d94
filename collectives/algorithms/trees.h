#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "collectives/request.h"
#include "collectives/spanning_tree.h"

namespace stepcast::collectives {

/// The two trees over n nodes of which a node forwards in one only: the in-order binary tree, and it mirrored (n even)
/// or turned by one (n odd). Sanders, Speck and Traeff, Parallel Computing 35(12), 2009.
Tree first_tree(std::uint32_t n);
Tree second_tree(const Tree& first);

/// All ranks (or nodes), each after its parent.
std::vector<std::uint32_t> top_down(const Tree& tree);

/// The chain of one channel of the request through a node's GPUs, by local index: the found one, or the order of their
/// indices from GPU `channel` on. Its reverse starts at the same GPU where the chain is a ring, at the other end where
/// it was found between two adapters: each GPU's neighbours in the node change sides.
std::vector<std::uint32_t> chain_of(const Request& request, std::uint32_t channel);
std::vector<std::uint32_t> reverse_chain_of(const Request& request, std::uint32_t channel);

/// A tree over nodes made one over ranks: in each node the GPUs form a chain, and the chains' first GPUs are joined as
/// their nodes are. Where an operation has a root, `first` is the chain of node 0, which hangs from its GPU 0 to both
/// sides, while the other nodes still hang below the first of `chain`. Requires node 0 to be the root then.
Tree with_chains(const Tree& nodes, std::span<const std::uint32_t> chain, std::span<const std::uint32_t> first = {});

/// The channels of the request that are planned: folded by rotation, channel 0 stands for all.
std::uint32_t planned_channels(const Request& request);

/// One tree per channel, each for its share of the elements, cut into pieces: all_reduce adds them up towards the root
/// and copies the sum back, broadcast and reduce do one of the two. Requires as many trees for every planned channel of
/// the request, those of one channel together.
CollectivePlan plan_trees(const Request& request, const std::vector<Tree>& trees);

/// Likewise with a share of the elements for each tree, of whatever sizes; never folded.
CollectivePlan plan_trees(const Request& request, const std::vector<Tree>& trees, std::span<const Range> shares);

/// Trees differ from node to node, but channel k + 1's are channel k's with each node turned by one GPU.
Symmetry tree_symmetry(const Request& request);

}  // namespace stepcast::collectives
