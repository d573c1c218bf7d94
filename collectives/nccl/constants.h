#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/operation.h"
#include "sim/units.h"

namespace stepcast::collectives::nccl {

enum class Algo : std::uint8_t { ring, tree, collnet_direct, collnet_chain, nvls, nvls_tree, pat };
enum class Protocol : std::uint8_t { ll, ll128, simple };
enum class Architecture : std::uint8_t { volta, ampere, hopper, blackwell };  ///< volta: and older
enum class Hardware : std::uint8_t { nvlink, pcie, network };

/// Places in the tables below.
constexpr std::size_t at(Algo algorithm) { return static_cast<std::size_t>(algorithm); }
constexpr std::size_t at(Architecture architecture) { return static_cast<std::size_t>(architecture); }
constexpr std::size_t at(Hardware link) { return static_cast<std::size_t>(link); }
constexpr std::size_t at(Protocol protocol) { return static_cast<std::size_t>(protocol); }

inline constexpr std::size_t kAlgorithms = 7, kProtocols = 3, kArchitectures = 4, kLinks = 3;

std::string_view name(Algo algorithm);     ///< "ring"
std::string_view name(Protocol protocol);  ///< "LL128"

template <class T>
using ByProtocol = std::array<T, kProtocols>;
/// 1 node, 2 nodes, 3 and more.
template <class T>
using BySpread = std::array<T, 3>;

/// What a release makes of the latency that a network's plugin tells it: nothing, its own step between nodes, or more
/// beside that (of Simple twice: what arrives is flushed).
enum class PluginLatency : std::uint8_t { ignored, instead, beside };

/// The numbers of NCCL's cost model (src/graph/tuning.cc), as one release has them. Facts, gathered from the sources of
/// 18 releases; where a release's own value was not gathered, it is that of 2.30.7.
struct Constants {
  std::string from;  ///< first release known to have them

  std::array<ByProtocol<Time>, kAlgorithms> base{};
  std::array<std::array<ByProtocol<Time>, kAlgorithms>, kLinks> hop{};
  std::array<BySpread<Bandwidth>, kArchitectures> ll_most{};  ///< all channels together
  std::array<BySpread<Bandwidth>, kArchitectures> ring_ll128_channel{}, tree_ll128_channel{}, tree_channel{},
      nvls_tree_channel{};
  std::array<double, kArchitectures> nvls_efficiency{};
  double ring_ll_share = 0.5;         ///< of the ring's bus rate
  double ring_ll_share_inside = 0.5;  ///< likewise of gathers, scatters and broadcasts inside one node
  double ring_ll128_share = 0.92;     ///< of the ring's bus rate
  double lone_ll128_share = 0.92;     ///< likewise where a node has one GPU
  /// By operation, in the order of Operation, of all architectures; 0: as `ring_ll128_channel` and
  /// `tree_ll128_channel`.
  std::array<Bandwidth, kOperations.size()> ll128_channel_of{};
  std::array<Bandwidth, kArchitectures> ring_ll128_total{};  ///< of all channels; 0: no such cap
  /// Until 2.27 NVLS and NVLSTree are priced as 5/6 of channels times rate, halved between more than two nodes, without
  /// caps or efficiencies; inferred from the golden table of 2.27.5, all nine NVLSTree entries of which it gives.
  bool nvls_simple_form = false;
  double plain_tree_share = 1;  ///< of a tree's rate, where its root in the node is one GPU: since 2.18
  PluginLatency plugin_latency = PluginLatency::beside;
  bool lone_as_tree = false;        ///< one GPU per node: every hop of a ring is a tree's hop
  bool crossings_by_nodes = false;  ///< an all_reduce's ring crosses 2 nodes times, not 2 (nodes - 1)
  bool posts_to_network = false;    ///< a ring's steps inside nodes take no less than a post to the network does
  double ll_inside_of_several = 1;  ///< LL's steps inside a node, where there are others
  std::array<double, kArchitectures> plateau{};  ///< an all_reduce's ring over nodes: times its latency, past a size
  bool plateau_by_channel = false;  ///< from 64 bytes of a channel and rank on; false: from 4 KiB of a rank on
  bool nvls = false;                ///< it has NVLS, inside a node: since 2.17
  bool nvls_tree = false;           ///< it has NVLSTree, and NVLS whose sums the network's switches add up: since 2.18
  bool pat = false;                 ///< it has PAT: since 2.23
  bool ll128_over_c2c = false;  ///< it trusts LL128 where GPUs reach adapters over C2C (NCCL_LL128_C2C): since 2.27.3
};

/// The release has the algorithm. NVLS is asked for inside one node: over several it comes with NVLSTree.
bool has(const Constants& constants, Algo algorithm);

/// What the release `version` ("2.27.5") uses: the newest known that is not newer. Throws InputError for a text that is
/// no version, and for releases before 2.5.7, which have no such model.
const Constants& constants(std::string_view version);

/// The release `version` has such a model.
bool has_model(std::string_view version);

/// The release `version` connects a communicator's ranks when an algorithm first needs it (NCCL_RUNTIME_CONNECT, since
/// 2.22), not all at once.
bool connects_when_used(std::string_view version);

/// One per release at which some number changed, oldest first.
const std::vector<Constants>& releases();

}  // namespace stepcast::collectives::nccl
