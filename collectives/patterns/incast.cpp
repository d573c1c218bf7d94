#include "collectives/patterns.h"

namespace stepcast::collectives {
namespace {

/// All flows are of the same bytes, so one chunk serves them.
CollectivePlan incast_flows(std::uint32_t ranks, Bytes bytes) {
  CollectivePlan plan;
  plan.ranks = ranks;
  const ChunkId chunk = plan.add_chunk({0, bytes.value});
  for (std::uint32_t sender = 1; sender < ranks; ++sender) plan.add({plan.connect(sender, 0, 0), chunk, Effect::copy});
  return plan;
}

}  // namespace

extern const Pattern incast;
constinit const Pattern incast{
    .name = "incast",
    .summary = "every other GPU sends to the first",
    .source = "Phanishayee et al., Measurement and Analysis of TCP Throughput Collapse, FAST 2008",
    .flows = incast_flows};

}  // namespace stepcast::collectives
