#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "collectives/algorithm.h"
#include "collectives/transport.h"

namespace stepcast::collectives {

/// The protocols of a transport. nvls: Simple as the algorithms have it whose sums NVSwitches make.
enum class Proto : std::uint8_t { simple, ll128, ll, nvls };

/// Those that any algorithm may use.
inline constexpr std::array kProtocols = {Proto::simple, Proto::ll128, Proto::ll};

/// As NCCL writes it: "Simple", "LL128", "LL".
std::string_view name_of(Proto proto);

/// A share of 0: the stack does not have it.
Protocol constants_of(const Transport& transport, Proto proto);

/// Its sums are made by the NVSwitches: it has Proto::nvls only.
bool in_nvswitch(const Algorithm& algorithm);

/// What a name of an algorithm asks for: "ring", or with a protocol "ring/LL".
struct Wanted {
  std::string_view algorithm;
  std::optional<Proto> protocol;
};

/// Throws InputError for an unknown protocol.
Wanted parse_wanted(std::string_view name);

}  // namespace stepcast::collectives
