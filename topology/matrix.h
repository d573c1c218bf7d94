#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "topology/cluster.h"

namespace stepcast::topology {

/// How one GPU reaches another.
struct Pair {
  /// As nvidia-smi names it: "X", "NV4" (NVLinks of the narrowest GPU on the way), "PIX" (one PCIe switch), "PXB"
  /// (several), "PHB" (the processor alone), "NODE" (switches and the processor), "SYS" (two processors); "NET" between
  /// nodes. Where P2P is off the wires are named, not the bounce.
  std::string kind;
  Bandwidth bandwidth{};  ///< one flow alone
  Time latency{};
  std::uint32_t hops = 0;  ///< links that one byte crosses
};

/// All pairs of the first `most` GPUs in use, [from * min(gpus, most) + to].
std::vector<Pair> pairs(const Cluster& cluster, std::uint32_t most);

/// What can flow at once from the first half of the GPUs in use to the second, or, up to 10 GPUs of one node, over the
/// worst of all ways to halve them: maximum flow (Goldberg and Tarjan, J. ACM 35, 1988, by Boost.Graph). On one node
/// over links that some path between its GPUs crosses; on several over all links, but never through a node that neither
/// sends nor receives. Of nodes used alike, half of the nodes send; an odd GPU or node counts to the second half.
/// Requires two GPUs. O(links) memory, more than that in time.
Bandwidth bisection(const Cluster& cluster);

/// The same in closed form: what one node's GPUs can send and receive, and the fabric's Fabric::bisection. Exact where
/// a node's NICs are alike; nothing for one node, and where GPUs or nodes of the machine are not in use. O(switches).
std::optional<Bandwidth> bisection_in_closed_form(const Cluster& cluster);

}  // namespace stepcast::topology
