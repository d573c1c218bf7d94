#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "collectives/operation.h"
#include "collectives/transport.h"

namespace stepcast::collectives {

/// The protocols of a transport. nvls: Simple as the algorithms have it whose sums NVSwitches make. p2p, p2p_ll: Simple
/// and LL as messages between two ranks have them.
enum class Proto : std::uint8_t { simple, ll128, ll, nvls, p2p, p2p_ll };

/// Those that any algorithm may use.
inline constexpr std::array kProtocols = {Proto::simple, Proto::ll128, Proto::ll};

/// As NCCL writes it: "Simple", "LL128", "LL".
std::string_view name_of(Proto proto);

/// A share of 0: the stack does not have it.
Protocol constants_of(const Transport& transport, Proto proto);

/// What a protocol's name means for an operation: messages may have times of their own.
Proto meant(Proto named, Operation operation, const Transport& transport);

/// What the library sends the messages of an operation by (by_messages), each of so many bytes: in a node LL up to 16
/// KiB and Simple beyond, between nodes Simple; never LL128. Source: NCCL 2.20 to 2.30, src/enqueue.cc, addP2pToPlan
/// and NCCL_P2P_LL_THRESHOLD, with one channel for a message of up to 64 KiB; src/transport/net.cc, which gives
/// messages LL buffers with NCCL_ALLOC_P2P_NET_LL_BUFFERS=1 only.
Proto of_messages(Bytes message, std::uint32_t nodes, const Transport& transport);

/// What a name of an algorithm asks for: "ring", or with a protocol "ring/LL".
struct Wanted {
  std::string_view algorithm;
  std::optional<Proto> protocol;
};

/// Throws InputError for an unknown protocol.
Wanted parse_wanted(std::string_view name);

}  // namespace stepcast::collectives
