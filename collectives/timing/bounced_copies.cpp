#include "collectives/timing/bounced_copies.h"

#include <algorithm>
#include <optional>

namespace stepcast::collectives {

using topology::DeviceKind;
using topology::LinkId;

BouncedCopies::PcieLink& BouncedCopies::known(LinkId link) {
  const auto [at, first] = links_.try_emplace(index(link));
  PcieLink& it = at->second;
  if (first && cluster_.link_traits(link).kind == topology::LinkKind::pcie) {
    const DeviceKind from = cluster_.link_source_kind(link), to = cluster_.link_target_kind(link);
    it = {true,
          from == DeviceKind::gpu,
          to == DeviceKind::gpu,
          from == DeviceKind::cpu,
          to == DeviceKind::cpu,
          cluster_.link_source(link),
          cluster_.link_target(link)};
  }
  return it;
}

void BouncedCopies::add(const WeightedList& hops, const std::vector<LinkId>& links) {
  const auto note = [](PcieLink& link, std::uint32_t gpu) {
    if (std::ranges::find(link.gpus, gpu) == link.gpus.end()) link.gpus.push_back(gpu);
  };
  std::optional<std::uint32_t> up;  // the GPU whose way up this is
  down_.clear();
  for (const Weighted& hop : hops) {
    PcieLink& link = known(links[hop.what]);
    if (!link.is_pcie) continue;
    if (link.from_gpu) up = link.source;
    if (up) {
      note(link, *up);
      write_.insert(*up);
      if (link.to_cpu) up.reset();
      continue;
    }
    if (link.from_cpu) down_.clear();
    down_.push_back(&link);
    if (!link.to_gpu) continue;
    for (PcieLink* each : down_) note(*each, link.target);
    read_.insert(link.target);
  }
}

bool BouncedCopies::both_ways(LinkId link) const {
  const auto at = links_.find(index(link));
  return at != links_.end() && std::ranges::any_of(at->second.gpus, [&](std::uint32_t gpu) {
           return write_.contains(gpu) && read_.contains(gpu);
         });
}

}  // namespace stepcast::collectives
