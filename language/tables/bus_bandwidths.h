#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "calibrate/fit/network_shares.h"

namespace stepcast::language {

/// A CSV table of measured bus bandwidths by number of nodes: columns op, nodes, gpus and busbw_GBps_mean (or
/// busbw_GBps), others are not read. Throws InputError, with its place, for a column that is missing and a cell that is
/// none of these.
std::vector<calibrate::BusBandwidth> parse_bus_bandwidths(std::string_view text, const std::string& shown);

}  // namespace stepcast::language
