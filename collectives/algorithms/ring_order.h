#pragma once

#include <cstdint>
#include <vector>

#include "collectives/request.h"

namespace stepcast::collectives {

/// The order in which one channel's ring visits the ranks: node after node, and in each node all its GPUs. Channel k
/// enters an even node at its GPU k and leaves by GPU k - 1, so that with as many channels as GPUs every NIC is used
/// alike. With an even number of nodes odd nodes are walked backwards: each step from node to node then stays on one
/// rail (NCCL's rings alternate likewise). With an odd number every node is walked forwards. With Request::chains each
/// node is walked in the order of the channel's chain instead.
class RingOrder {
 public:
  RingOrder(const Request& request, std::uint32_t channel);

  std::uint32_t rank_at(std::uint64_t position) const { return rank_[position % rank_.size()]; }
  std::uint32_t position_of(std::uint32_t rank) const { return position_[rank]; }
  std::uint32_t next(std::uint32_t rank) const { return rank_at(position_[rank] + std::uint64_t{1}); }
  std::uint32_t previous(std::uint32_t rank) const { return rank_at(position_[rank] + rank_.size() - 1); }

 private:
  std::vector<std::uint32_t> rank_, position_;
};

/// The largest symmetry of all the channels' rings together.
Symmetry ring_symmetry(const Request& request);

}  // namespace stepcast::collectives
