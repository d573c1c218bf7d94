#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "sim/units.h"

namespace stepcast::schedules {

enum class Tier : std::uint8_t { gpu, host, nvme };
inline constexpr std::array<std::string_view, 3> kTierNames = {"gpu", "host", "nvme"};
constexpr std::string_view name(Tier tier) { return kTierNames[static_cast<std::size_t>(tier)]; }

/// What does not stay in a GPU's memory: ZeRO-Offload (Ren et al., USENIX ATC 2021, arXiv 2101.06840), ZeRO-Infinity
/// (Rajbhandari et al., SC 2021, arXiv 2104.07857).
struct OffloadPlan {
  Tier optimizer = Tier::gpu;    ///< its state; the node's CPUs then update the parameters
  Tier parameters = Tier::gpu;   ///< copied to the GPU block by block, for forward and backward anew
  Tier activations = Tier::gpu;  ///< what a pass saves leaves while it runs and is back while its backward runs
  std::optional<std::uint32_t> activation_layers{};  ///< of so many layers alone; none: of all
  bool overlap = true;  ///< copies run beside compute, both ways at once; else one after the other
  std::optional<Bandwidth> nvme_bandwidth{};  ///< of a node's drives together, reading as writing
  std::optional<Bytes> nvme_size{};           ///< likewise; none: not known
  double adam_rate = 4e9;                     ///< parameters a second that a node's CPUs update

  bool any() const { return optimizer != Tier::gpu || parameters != Tier::gpu || activations != Tier::gpu; }
};

}  // namespace stepcast::schedules
