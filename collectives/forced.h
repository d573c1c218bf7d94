#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace stepcast::collectives {

/// How far a GPU and an adapter may be apart for GPUDirect RDMA: no further than PCIe switches, than one CPU, or across
/// CPUs. NCCL's names of distances, nearest first; its default is the first (src/graph/paths.cc, ncclTopoCheckGdr).
enum class GdrLevel : std::uint8_t { pxb, phb, sys };

/// What a user forces on the library, as NCCL_ALGO, NCCL_PROTO, NCCL_MAX_NCHANNELS and NCCL_NET_GDR_LEVEL do. Empty:
/// its own choice.
struct Forced {
  std::vector<std::string> algorithms{};  ///< names of algorithms.h; "auto" takes one that can do the operation
  std::vector<std::string> without{};     ///< names of algorithms.h that no choice takes; empty beside `algorithms`
  std::vector<std::string> protocols{};   ///< "Simple", "LL128", "LL"
  std::uint32_t most_channels = std::numeric_limits<std::uint32_t>::max();  ///< of Transport::channels
  GdrLevel net_gdr_level = GdrLevel::pxb;
  friend bool operator==(const Forced&, const Forced&) = default;
};

/// What a list says of algorithms: these alone, or any but these. One of the two is empty.
struct ForcedAlgorithms {
  std::vector<std::string> alone{}, without{};
};

/// "ring", "Ring,Tree", "^nvls" (any that would be considered but that): our names, or NCCL's (Tree:
/// double-binary-tree, NVLSTree: nvls-tree, CollNetDirect and CollNetChain: sharp), in any case. Throws InputError:
/// found, allowed.
ForcedAlgorithms forced_algorithms(std::string_view list);

/// "LL", "LL,LL128", "^LL" (all three but that), likewise.
std::vector<std::string> forced_protocols(std::string_view list);

}  // namespace stepcast::collectives
