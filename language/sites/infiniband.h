#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "language/core/tree.h"
#include "language/sites/site.h"
#include "sim/units.h"

namespace stepcast::language {

/// A switch or an adapter of an InfiniBand fabric, as a diagnostic program names it.
struct InfinibandDevice {
  std::string description;  ///< "MF0;leaf01:MQM9700/U1", "gpu001 mlx5_0"
  bool is_switch = false;
  Place place;
};

struct InfinibandPort {
  std::string device;  ///< its key in InfinibandFabric::devices
  std::uint32_t number = 0;
  friend auto operator<=>(const InfinibandPort&, const InfinibandPort&) = default;
};

/// A cable, as one of its ends sees it.
struct InfinibandLink {
  InfinibandPort from, to;
  Bandwidth bandwidth{};  ///< in one direction
  Place place;
};

/// What a diagnostic program found: each cable once or twice, by its ends.
struct InfinibandFabric {
  std::map<std::string, InfinibandDevice> devices;
  std::vector<InfinibandLink> links;
};

/// What a link of so many lanes ("4x") of a speed ("NDR") carries in one direction, 400 Gbit/s here: what the lanes
/// signal (rdma-core, libibmad/dump.c, mad_dump_linkspeed and mad_dump_linkspeedext), of which 8b/10b coding leaves 4/5
/// (to QDR), 64b/66b coding 64/66 (FDR10, FDR, EDR), and error correction from HDR on the round figure that links are
/// sold by. Nothing: no such width or speed.
std::optional<Bandwidth> infiniband_bandwidth(std::string_view width, std::string_view speed);

/// The name of the speed whose lanes signal at so many Gbit/s, as iblinkinfo prints it. Nothing: none does.
std::optional<std::string_view> infiniband_speed(double lane_gbit);

/// The site of a fabric. An adapter belongs to the node that the first word of its description names, as Linux sets it
/// ("gpu001 mlx5_0"); of a node the adapters in the order of their names are its network cards. `hcas`: names of those
/// that count (empty: all). Adapters of no node (of SHARP's aggregation, of gateways) are left out, with a remark.
/// Throws InputError for a fabric without a switch, and one without a node.
Site site_of_infiniband(const InfinibandFabric& fabric, const std::vector<std::string>& hcas, const std::string& file);

}  // namespace stepcast::language
