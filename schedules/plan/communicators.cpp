#include "schedules/plan/communicators.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "collectives/nccl/constants.h"
#include "sim/whole_bytes.h"

namespace stepcast::schedules {
namespace {

constexpr double kKiB = 1024, kMiB = 1024 * kKiB;
/// Buffers of the two protocols that have flags (computeBuffSizes), beside Simple's, which NCCL_BUFFSIZE sets.
constexpr double kOfLl = 512 * kKiB, kOfLl128 = 4800 * kKiB;
constexpr double kPage = 2 * kMiB;           ///< CUDA_IPC_MIN; what is shared between processes is a multiple of it
constexpr std::uint32_t kSteps = 8;          ///< NCCL_STEPS, that a buffer is cut into
constexpr std::uint32_t kPoolSteps = 16;     ///< NCCL_SHARED_STEPS
constexpr double kPoolChunk = 128 * kKiB;    ///< NCCL_P2P_NET_CHUNKSIZE
constexpr std::uint32_t kPeersOfARound = 8;  ///< NCCL_MAX_DEV_WORK_P2P_PER_BATCH
constexpr std::uint32_t kChannelsOfAnAdapter = 2, kChannelsOverPcie = 2;
/// NVSwitches that add up: blocks of Hopper, and of later GPUs; and NCCL_NVLS_CHUNKSIZE.
constexpr std::uint32_t kSwitchChannels = 16, kLaterSwitchChannels = 24, kBlackwell = 100;
constexpr double kSwitchChunk = 128 * kKiB;

double pages(double bytes) { return std::ceil(bytes / kPage) * kPage; }

}  // namespace

CommunicatorBuffers::CommunicatorBuffers(const Scenario& s, std::optional<std::uint32_t> tied_stage)
    : s_(s),
      tied_stage_(tied_stage),
      node_gpus_(std::max(std::min(s.cluster.node.gpus, s.cluster.gpus), 1u)),
      simple_(static_cast<double>(s.software.transport.buffer.value)),
      near_(pages(kOfLl + kOfLl128 + simple_) + kPage),
      far_(2 * pages(kOfLl128 + simple_)) {
  if (simple_ == 0) return;  // nothing is counted
  const Ranks ranks(s.parallelism, s.cluster.node.gpus);
  trees_of_all_ = !collectives::nccl::connects_when_used(s.software.transport.nccl_version);
  stages_in_node_ = in_node(ranks.stride(Dimension::pipeline), s.parallelism.pipeline);
  every_stage_ = of_every_stage(ranks);
}

std::uint32_t CommunicatorBuffers::channels(const Communicator& c) const {
  const std::uint32_t most = std::min(s_.software.transport.channels, s_.software.transport.most_channels);
  if (c.ranks > c.in_node)
    return std::min(most, kChannelsOfAnAdapter * std::clamp(s_.cluster.node.nics, 1u, c.in_node));
  return s_.cluster.node.nvlink ? most : std::min(most, kChannelsOverPcie);
}

double CommunicatorBuffers::of_collectives(const Communicator& c) const {
  const bool several_nodes = c.ranks > c.in_node;
  const bool tree = (c.sums || trees_of_all_) && c.ranks > 2;  // of two it is the ring
  // Of a node: its ranks' connections to the next one, of which one leaves it where there are several nodes.
  const double inside = several_nodes ? c.in_node - 1 : c.in_node;
  double of_node = inside * near_ + (several_nodes ? far_ : 0);
  // A tree goes through a node's ranks one behind the other, both ways; counted is one that has both neighbours. The
  // root in the node has one node above or below it, or some of both.
  if (tree) of_node += inside * near_ + (several_nodes ? (c.ranks > 2 * c.in_node ? 2 : 1) * far_ : 0);
  return channels(c) * of_node / c.in_node;
}

double CommunicatorBuffers::of_peers(const Communicator& c) const {
  const std::uint32_t all = std::bit_ceil(s_.cluster.node.nvlink ? s_.software.transport.channels : kChannelsOverPcie);
  std::uint32_t of_peer = all;
  if (c.ranks > c.in_node) {  // as many as let all peers be served in one round
    const std::uint32_t rounds = (c.ranks + kPeersOfARound - 1) / kPeersOfARound;
    while (of_peer > 1 && of_peer * rounds > all) of_peer /= 2;
  }
  const double pools = 2.0 * all * kPoolSteps * std::min(kPoolChunk, simple_ / kSteps);
  return c.peers * of_peer * near_ + (c.far_peers ? pools : 0);
}

double CommunicatorBuffers::of_switches(const Communicator& c) const {
  if (!c.sums || c.in_node <= 2 || !s_.cluster.node.nvlink_sharp || s_.software.transport.nvls.share <= 0) return 0;
  const std::uint32_t channels =
      s_.cluster.node.compute_capability >= kBlackwell ? kLaterSwitchChannels : kSwitchChannels;
  return 2.0 * channels * kSteps * kSwitchChunk * c.in_node;
}

Bytes CommunicatorBuffers::of(const Communicator& c) const {
  if (c.ranks <= 1 || simple_ == 0) return {};
  double bytes = c.collectives ? of_collectives(c) + of_switches(c) : 0;
  if (c.peers > 0 || c.far_peers) bytes += of_peers(c);
  return whole_bytes(bytes);
}

std::uint32_t CommunicatorBuffers::in_node(std::uint32_t stride, std::uint32_t ranks) const {
  return std::clamp(node_gpus_ / stride, 1u, ranks);
}

Bytes CommunicatorBuffers::of_every_stage(const Ranks& ranks) const {
  const Parallelism& plan = s_.parallelism;
  const auto along = [&](Dimension d) { return in_node(ranks.stride(d), size(plan, d)); };
  const std::uint32_t tensor = along(Dimension::tensor), context = along(Dimension::context),
                      copies = context * along(Dimension::data);
  const std::uint32_t of_stage = std::min(tensor * copies, node_gpus_);  // in one node
  const bool sums = !scatters_gradients(s_);

  Bytes all = of({.ranks = s_.cluster.gpus, .in_node = node_gpus_, .sums = true});
  all += of({.ranks = plan.tensor, .in_node = tensor, .sums = true});
  if (plan.context > 1) {
    const bool gathers = plan.context_method == ContextMethod::all_gather;
    const bool to_all = plan.context_method == ContextMethod::ulysses;
    Communicator sharing{.ranks = plan.context, .in_node = context, .collectives = gathers};
    if (!gathers) {  // round a ring each sends to one and receives from another
      sharing.peers = context > 1 ? (to_all ? context - 1 : 1) : 0;
      sharing.far_peers = plan.context > context;
    }
    all += of(sharing);
  }
  if (plan.expert_tensor > 1)
    all += of({.ranks = plan.expert_tensor, .in_node = std::min(plan.expert_tensor, of_stage)});
  if (plan.expert > 1) {
    const std::uint32_t near = std::clamp(of_stage / plan.expert_tensor, 1u, plan.expert);
    all += of({.ranks = plan.expert,
               .in_node = near,
               .collectives = false,
               .peers = near - 1,
               .far_peers = plan.expert > near});
  }
  if (expert_ranks(plan) > 1)
    all += of({.ranks = expert_copies(plan), .in_node = std::max(of_stage / expert_ranks(plan), 1u), .sums = sums});
  const std::uint32_t shards = shard_ranks(s_), replicas = weight_copies(plan) / shards;
  all += of({.ranks = shards, .in_node = std::min(copies, shards), .sums = sums && replicas == 1});
  all += of({.ranks = replicas, .in_node = std::max(copies / shards, 1u), .sums = true});
  return all;
}

Communicator CommunicatorBuffers::of_stages(std::uint32_t stage) const {
  const Parallelism& plan = s_.parallelism;
  Communicator stages{.ranks = plan.pipeline, .in_node = stages_in_node_, .collectives = false};
  const auto see = [&](std::uint32_t other) {
    if (other / stages.in_node == stage / stages.in_node)
      ++stages.peers;
    else
      stages.far_peers = true;
  };
  const bool goes_round = s_.pipeline.virtual_stages > 1 && plan.pipeline > 2;
  if (stage > 0 || goes_round) see((stage + plan.pipeline - 1) % plan.pipeline);
  if (stage + 1 < plan.pipeline || goes_round) see((stage + 1) % plan.pipeline);
  return stages;
}

Bytes CommunicatorBuffers::of_stage(std::uint32_t stage) const {
  Bytes all = every_stage_;
  if (simple_ == 0 || s_.parallelism.pipeline == 1) return all;
  const Communicator stages = of_stages(stage);
  all += of(stages);
  if (tied_stage_ && (stage == 0 || stage == *tied_stage_))
    all += of({.ranks = 2, .in_node = stages.in_node == s_.parallelism.pipeline ? 2u : 1u, .sums = true});
  return all;
}

}  // namespace stepcast::schedules
