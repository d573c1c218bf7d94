#include "collectives/transport.h"

namespace stepcast::collectives {

Transport over(Transport transport, const topology::NcclOverNetwork& network) {
  if (!transport.network_of_links) return transport;
  transport.network_step = transport.network_step + network.simple;
  transport.ll128.network_step = transport.ll128.network_step + network.ll128;
  transport.ll.network_step = transport.ll.network_step + network.ll;
  transport.nvls.network_step = transport.nvls.network_step + network.simple;
  transport.p2p.network_step = transport.p2p.network_step + network.messages;
  transport.network_efficiency *= network.share;
  transport.network_of_links = false;
  return transport;
}

}  // namespace stepcast::collectives
