#include "calibrate/fit/neutral_start.h"

#include <cstddef>

#include "collectives/nccl/constants.h"

namespace stepcast::calibrate {
namespace {

using collectives::Protocol;
using collectives::Transport;
namespace nccl = collectives::nccl;

Time hop(nccl::Hardware link, nccl::Algo algorithm, nccl::Protocol protocol) {
  return nccl::releases().back().hop[static_cast<std::size_t>(link)][static_cast<std::size_t>(algorithm)]
                                    [static_cast<std::size_t>(protocol)];
}

/// A ring's times of one protocol. `Times` is a Protocol, or the Transport, whose own are those of Simple.
template <class Times>
void begin_as_ring(Times& times, nccl::Protocol protocol) {
  constexpr nccl::Algo ring = nccl::Algo::ring;
  times.launch = nccl::releases().back().base[static_cast<std::size_t>(ring)][static_cast<std::size_t>(protocol)];
  times.nvlink_step = hop(nccl::Hardware::nvlink, ring, protocol);
  times.pcie_step = times.host_step = hop(nccl::Hardware::pcie, ring, protocol);
  times.network_step = hop(nccl::Hardware::network, ring, protocol);
}

}  // namespace

Transport neutral_start(const Transport& like) {
  constexpr nccl::Protocol simple = nccl::Protocol::simple;
  const auto there = [](const Protocol& was, double share) { return was.share > 0 ? share : 0; };
  Transport start = like;
  begin_as_ring(start, simple);
  begin_as_ring(start.ll128, nccl::Protocol::ll128);
  begin_as_ring(start.ll, nccl::Protocol::ll);
  start.nvls.launch = hop(nccl::Hardware::nvlink, nccl::Algo::nvls, simple);
  start.nvls.nvlink_step = start.nvlink_step;
  start.nvls.network_step = hop(nccl::Hardware::network, nccl::Algo::nvls, simple);
  start.ll.share = there(like.ll, nccl::releases().back().ring_ll_share);
  // Not in NCCL's model: assumed.
  start.ramp = start.nvls.ramp = microseconds(64);
  start.ll128.ramp = microseconds(16);
  start.ll.ramp = microseconds(8);
  start.issue = microseconds(5);
  start.own_copy = 0.2;
  start.nvlink_efficiency = start.network_efficiency = 0.9;
  // Low enough to be what limits an adapter of 200 Gbit/s on PCIe 4.0: from a limit that does not bind no fit finds one
  // that does.
  start.host_bridge_efficiency = 0.6;
  start.ll.network_share = 0.5;
  start.tree_efficiency = 0.65;
  start.ll128.share = there(like.ll128, 0.92);
  start.nvls.share = there(like.nvls, 0.9);
  // Messages begin as the collectives' Simple does.
  start.p2p = {start.launch, start.ramp, start.nvlink_step, start.pcie_step, start.host_step, start.network_step, 0.95};
  start.p2p.message = nanoseconds(100);  // assumed
  return start;
}

}  // namespace stepcast::calibrate
