#include "workload/received.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

namespace stepcast::workload {

void check_received(const topology::Cluster& cluster, topology::LinkId id, double handed, double carried) {
  constexpr double kRounding = 1e-6;  // of sums over millions of transfers, in whatever order
  if (std::abs(carried - handed) <= kRounding * handed) return;
  const topology::Link link = cluster.link(id);
  throw std::logic_error(
      fmt::format("the link {} -> {} carried {:.0f} bytes of {:.0f}", link.from, link.to, carried, handed));
}

}  // namespace stepcast::workload
