#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace stepcast::topology {

/// What NCCL knows of links by the names of devices. Source: NCCL src/graph/topo.h (2.27.7), GB/s in one direction.

/// NVLink by the GPU's compute capability: the data sheet's rate and NCCL's payload.
struct NvlinkGeneration {
  std::uint32_t sm = 0;
  double data_sheet = 0, payload = 0;
};
inline constexpr std::array<NvlinkGeneration, 6> kNvlinks = {
    {{60, 20, 18}, {70, 25, 20}, {80, 25, 20}, {86, 14.0625, 12}, {90, 25, 20.6}, {100, 50, 40.1}}};

/// NVSwitches add for GPUs of this compute capability and later: NCCL's condition for NVLS (src/graph/tuning.cc).
inline constexpr std::uint32_t kFirstSmOfNvlinkSharp = 90;

/// Payload between two sockets. `model` 0: any other of the vendor's.
struct SocketLink {
  std::string_view vendor;
  std::uint32_t model = 0;
  double payload = 0;
};
inline constexpr std::array<SocketLink, 6> kSockets = {{{"AuthenticAMD", 0, 16},
                                                        {"GenuineIntel", 79, 6},
                                                        {"GenuineIntel", 85, 10},
                                                        {"GenuineIntel", 143, 22},
                                                        {"GenuineIntel", 207, 40},
                                                        {"GenuineIntel", 0, 6}}};

/// The same of processors that are not x86.
inline constexpr double kPower9Sockets = 32, kArmSockets = 6;

/// Share of the PCIe rate that is payload: configs/links/pcie-gen4-x16.yaml.
inline constexpr double kPciePayload = 0.825;

/// PCIe after encoding, GB/s of one lane: 8b/10b up to 5 GT/s, 128b/130b above.
constexpr double pcie_lane(double gigatransfers) {
  return gigatransfers / 8 * (gigatransfers < 8 ? 0.8 : 128.0 / 130.0);
}

}  // namespace stepcast::topology
