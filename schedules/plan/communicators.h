#pragma once

#include <cstdint>
#include <optional>

#include "scenario/scenario.h"
#include "schedules/parallel/ranks.h"

namespace stepcast::schedules {

/// A communicator as one of its ranks sees it: what NCCL allocates buffers for.
struct Communicator {
  std::uint32_t ranks = 1;
  std::uint32_t in_node = 1;  ///< of them, those in one node
  bool collectives = true;    ///< its ranks run some; false: they only send to each other
  bool sums = false;          ///< all-reduces among them
  std::uint32_t peers = 0;    ///< in its own node, that a rank sends to and receives from
  bool far_peers = false;     ///< it sends to ranks of other nodes, or receives from them
};

/// Device memory that NCCL takes for communicators on one GPU; of what leaves the node, of its mean rank. Nothing where
/// the transport does not say how large a connection's buffer is (Transport::buffer).
///
/// A connection between two GPUs of a node has a buffer for each protocol at the receiver, and a page at the sender;
/// one over the network has buffers at both ends. Each channel has a ring. Where the ranks all-reduce it has a tree
/// too, whose connections against the ring's direction are its own; before release 2.22 every communicator has trees.
/// Ranks that send to each other have connections of their own: to each peer of the node on many channels, and two
/// pools for all peers of other nodes. NVSwitches that add up write to buffers of every rank.
///
/// Sources: NVIDIA/nccl @5067397c, src/init.cc (computeBuffSizes), src/transport/p2p.cc (p2pSendSetup, p2pRecvSetup),
/// src/transport/net.cc (sendProxyConnect, sharedNetBuffersInit), src/transport/nvls.cc (ncclNvlsBufferSetup),
/// src/graph/paths.cc (ncclTopoComputeP2pChannels). How many channels a communicator has NCCL finds by a search; here
/// it is Transport::channels in a node with NVLink, two in one without, and over several nodes two for each adapter
/// that its ranks of one node have.
class CommunicatorBuffers {
 public:
  /// `tied_stage`: another than the first that has a copy of its embedding; none: no stage has.
  CommunicatorBuffers(const Scenario& scenario, std::optional<std::uint32_t> tied_stage);

  /// Of one communicator.
  Bytes of(const Communicator& communicator) const;

  /// Of all that a GPU of a stage is in: with its tensor, context, expert and data ranks, with the other stages, with
  /// whom it shares an embedding, and with all GPUs.
  Bytes of_stage(std::uint32_t stage) const;

 private:
  std::uint32_t channels(const Communicator& communicator) const;
  double of_collectives(const Communicator& communicator) const;
  double of_peers(const Communicator& communicator) const;
  double of_switches(const Communicator& communicator) const;

  /// Of so many ranks that are `stride` apart, those in one node.
  std::uint32_t in_node(std::uint32_t stride, std::uint32_t ranks) const;
  Communicator of_stages(std::uint32_t stage) const;
  Bytes of_every_stage(const Ranks& ranks) const;

  const Scenario& s_;
  const std::optional<std::uint32_t> tied_stage_;
  const std::uint32_t node_gpus_;
  const double simple_;        ///< bytes of Simple's buffer
  const double near_, far_;    ///< bytes of a channel's connection in a node, and over the network, both ends together
  bool trees_of_all_ = false;  ///< of communicators that do not all-reduce, too
  std::uint32_t stages_in_node_ = 1;
  Bytes every_stage_{};  ///< of the communicators that a GPU of any stage is in
};

}  // namespace stepcast::schedules
