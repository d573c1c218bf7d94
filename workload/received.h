#pragma once

#include "topology/cluster.h"

namespace stepcast::workload {

/// Throws std::logic_error that names the link where it did not carry what was handed to it, in bytes.
void check_received(const topology::Cluster& cluster, topology::LinkId link, double handed, double carried);

}  // namespace stepcast::workload
