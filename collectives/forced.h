#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace stepcast::collectives {

/// What a user forces on the library, as NCCL_ALGO, NCCL_PROTO and NCCL_MAX_NCHANNELS do. Empty: its own choice.
struct Forced {
  std::vector<std::string> algorithms{};  ///< names of algorithms.h; "auto" takes one that can do the operation
  std::vector<std::string> protocols{};   ///< "Simple", "LL128", "LL"
  std::uint32_t most_channels = std::numeric_limits<std::uint32_t>::max();  ///< of Transport::channels
  friend bool operator==(const Forced&, const Forced&) = default;
};

/// "ring", "Ring,Tree", "^nvls" (all that the library has but that): our names, or NCCL's (Tree: double-binary-tree,
/// NVLSTree: nvls-tree, CollNetDirect and CollNetChain: sharp), in any case. Throws InputError: found, allowed.
std::vector<std::string> forced_algorithms(std::string_view list);

/// "LL", "LL,LL128", "^LL", likewise.
std::vector<std::string> forced_protocols(std::string_view list);

}  // namespace stepcast::collectives
