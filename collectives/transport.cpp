#include "collectives/transport.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace stepcast::collectives {

Transport left_by(Transport transport, const topology::NcclPlugin& plugin) {
  if (transport.forced.algorithms.empty() && transport.forced.without.empty()) {
    transport.forced.algorithms = plugin.algorithms;
    transport.forced.without = plugin.without;
  }
  if (transport.forced.protocols.empty()) transport.forced.protocols = plugin.protocols;
  return transport;
}

Transport over(Transport transport, const topology::NcclOverNetwork& network) {
  if (!transport.network_of_links) return transport;
  transport.network_step = transport.network_step + network.simple;
  transport.ll128.network_step = transport.ll128.network_step + network.ll128;
  transport.ll.network_step = transport.ll.network_step + network.ll;
  transport.nvls.network_step = transport.nvls.network_step + network.simple;
  transport.p2p.network_step = transport.p2p.network_step + network.messages;
  transport.network_efficiency *= network.share;
  transport.ll.network_share *= network.ll_share;
  transport.network_of_links = false;
  return left_by(std::move(transport), network.plugin);
}

double network_share_over(const Transport& transport, std::uint32_t nodes) {
  const std::vector<ShareOverNodes>& shares = transport.network_shares;
  if (shares.empty()) return 1;
  const auto above = std::ranges::lower_bound(shares, nodes, {}, &ShareOverNodes::nodes);
  if (above == shares.begin()) return shares.front().share;
  if (above == shares.end()) return shares.back().share;
  const ShareOverNodes& below = *std::prev(above);
  const double part =
      std::log(static_cast<double>(nodes) / below.nodes) / std::log(static_cast<double>(above->nodes) / below.nodes);
  return below.share * std::pow(above->share / below.share, part);
}

}  // namespace stepcast::collectives
