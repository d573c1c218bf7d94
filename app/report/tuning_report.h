#pragma once

#include <span>
#include <string>

#include "collectives/nccl/tuner.h"
#include "sim/units.h"

namespace stepcast::app {

/// What NCCL's own model makes of a communicator, as NCCL_DEBUG_SUBSYS=GRAPH,TUNING prints it: the graphs (channels,
/// rate of each inside a node and between nodes), latency (us) and bandwidth (GB/s of algbw) of each algorithm and
/// protocol, and which it picks at each of the sizes, in ascending order: one line per change. `protocols`: what the
/// network's plugin leaves of them, by their names; empty: all.
std::string tuning_table(const collectives::nccl::Job& job, std::string_view version, collectives::Operation operation,
                         std::span<const Bytes> sizes, std::span<const std::string> protocols = {});

}  // namespace stepcast::app
