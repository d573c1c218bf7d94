#pragma once

#include "topology/cluster.h"

namespace stepcast::workload {

/// What traffic may occupy of a link if no node were slow: all that it has. What fills a link by itself must not be
/// slowed by rounding in its own load, hence a last bit more.
inline Bandwidth whole_link_capacity(const topology::Cluster& cluster, topology::LinkId link) {
  constexpr double kHeadroom = 1 + 1e-9;
  return {cluster.link_bandwidth(link).value * kHeadroom};
}

/// What traffic may occupy of a link.
inline Bandwidth link_capacity(const topology::Cluster& cluster, topology::LinkId link) {
  return whole_link_capacity(cluster, link) * cluster.link_speed(link);
}

}  // namespace stepcast::workload
