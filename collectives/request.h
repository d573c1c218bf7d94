#pragma once

#include <cstdint>
#include <vector>

#include "collectives/link_view.h"
#include "collectives/operation.h"
#include "collectives/plan.h"

namespace stepcast::collectives {

/// A symmetry of a plan. Shifting all ranks by `period` (modulo the ranks) gives the same plan; with `rotate`, so does
/// turning the index inside the node (and with it the channel) by one. 0: none.
struct Symmetry {
  std::uint32_t period = 0;
  bool rotate = false;
  std::uint32_t row = 0;  ///< so many ranks turn, as a node's would: Request::row; 0: those of a node
  friend bool operator==(const Symmetry&, const Symmetry&) = default;
};

/// What a plan is for. Rank r sits in node r / gpus(); the root of broadcast, reduce, gather, scatter and send_recv is
/// rank 0.
struct Request {
  Operation operation = Operation::all_reduce;
  std::uint32_t ranks = 1;
  std::int64_t elements = 0;   ///< counted as Operation says
  std::uint32_t nodes = 1;     ///< divides ranks
  std::uint32_t row = 0;       ///< ranks in a row of the torus that the one node is; 0: it is none
  std::uint32_t channels = 1;  ///< rings or trees that share the elements
  std::uint32_t pieces = 1;    ///< into which algorithms that pipeline cut each channel's elements; others ignore it
  /// Of a plan that is made of like rounds (CollectivePlan::rounds) only the first so many are wanted; others ignore
  /// it. 0: all.
  std::uint32_t rounds = 0;
  /// Of transfers that are the same but for this symmetry, only one is wanted: the one of the source below `period`,
  /// and with rotate of local index (or channel) 0. Destinations stay as they are; dependencies name the stand-ins.
  /// Must be a symmetry the algorithm has for this request (see Algorithm::symmetry), or {}: the whole plan.
  Symmetry fold{};
  /// Parameter servers that are no workers: the last so many ranks, which hold zeros before and need nothing after.
  /// Only algorithms named after them look at it.
  std::uint32_t servers = 0;
  /// By channel: the order in which rings and trees walk a node's GPUs, by local index (with one node: all ranks).
  /// Found on the links (search/chains.h) and as many as `channels`. Empty: in the order of their indices, each channel
  /// turned by one.
  std::vector<std::vector<std::uint32_t>> chains{};
  /// all_to_all with uneven sizes: rank s sends pair_elements[s * ranks + d] elements to rank d, its elements in the
  /// order of d, and `elements` is no less than what any rank sends. Empty: even parts of `elements`.
  std::vector<std::int64_t> pair_elements{};
  /// For algorithms that look at the machine (Algorithm::needs_links): the ways between the ranks.
  LinkView links{};
  bool nvlink_sharp = false;          ///< the NVSwitches of a node add up what is pushed to them
  bool in_network_reduction = false;  ///< the switches between the nodes add up what is pushed to them

  std::uint32_t gpus() const { return ranks / nodes; }
  Range all() const { return {0, elements}; }

  /// The same of another number of elements; the sizes of pairs in proportion, rounded down.
  Request resized(std::int64_t to) const;
};

}  // namespace stepcast::collectives
