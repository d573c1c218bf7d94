#pragma once

#include "topology/cluster.h"
#include "workload/slow_links.h"

namespace stepcast::workload {

/// What traffic may occupy of a link: all that it has. What fills a link by itself must not be slowed by rounding in
/// its own load, hence a last bit more.
inline Bandwidth link_capacity(const topology::Cluster& cluster, const SlowLinks* slow_links, topology::LinkId link) {
  constexpr double kHeadroom = 1 + 1e-9;
  const double speed = slow_links != nullptr ? slow_links->speed(link) : 1;
  return {cluster.link_bandwidth(link).value * speed * kHeadroom};
}

}  // namespace stepcast::workload
