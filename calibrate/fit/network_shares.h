#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "collectives/operation.h"
#include "collectives/transport.h"
#include "scenario/cluster.h"

namespace stepcast::calibrate {

/// The bus bandwidth that a collective of large messages reached over all GPUs of so many nodes.
struct BusBandwidth {
  collectives::Operation operation{};
  std::uint32_t nodes = 0, gpus = 0;
  double bytes_per_second = 0;
};

/// What a site's network gives groups over so many nodes: the shares under which `transport` on these nodes has the bus
/// bandwidths that were measured, the geometric mean over the operations, by rising nodes. Rows of one node tell
/// nothing. Messages of 1 GiB stand for large ones.
std::vector<collectives::ShareOverNodes> network_shares(std::span<const BusBandwidth> measured,
                                                        const schedules::ClusterSpec& cluster,
                                                        const collectives::Transport& transport);

}  // namespace stepcast::calibrate
