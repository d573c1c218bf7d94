#include "calibrate/fit/network_shares.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "collectives/timing/timer.h"
#include "topology/cluster.h"

namespace stepcast::calibrate {
namespace {

constexpr double kLeastShare = 0.005;
constexpr Bytes kLarge{1LL << 30};

double seconds(const BusBandwidth& row, const schedules::ClusterSpec& spec, collectives::Transport transport,
               double share) {
  transport.network_shares = {{2, share}};
  const collectives::Timer timer(topology::build_cluster(spec.node, spec.fabric, row.gpus), std::move(transport));
  collectives::Group all;
  for (std::uint32_t gpu = 0; gpu < row.gpus; ++gpu) all.push_back(topology::GpuId{gpu});
  return to_seconds(timer.time(row.operation, kLarge, std::span(&all, 1), "library").duration);
}

/// Bisection of the share's logarithm: the time falls as the share grows.
double share_of(const BusBandwidth& row, const schedules::ClusterSpec& spec, const collectives::Transport& transport) {
  const double measured =
      collectives::bus_factor(row.operation, row.gpus) * static_cast<double>(kLarge.value) / row.bytes_per_second;
  if (seconds(row, spec, transport, 1) >= measured) return 1;
  double low = std::log(kLeastShare), high = 0;
  for (int turn = 0; turn < 14; ++turn) {
    const double middle = (low + high) / 2;
    (seconds(row, spec, transport, std::exp(middle)) > measured ? low : high) = middle;
  }
  return std::exp(high);
}

}  // namespace

std::vector<collectives::ShareOverNodes> network_shares(std::span<const BusBandwidth> measured,
                                                        const schedules::ClusterSpec& cluster,
                                                        const collectives::Transport& transport) {
  std::map<std::uint32_t, std::vector<double>> logarithms;
  for (const BusBandwidth& row : measured)
    if (row.nodes > 1) logarithms[row.nodes].push_back(std::log(share_of(row, cluster, transport)));
  std::vector<collectives::ShareOverNodes> shares;
  for (const auto& [nodes, all] : logarithms)
    shares.push_back({nodes, std::exp(std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size()))});
  return shares;
}

}  // namespace stepcast::calibrate
