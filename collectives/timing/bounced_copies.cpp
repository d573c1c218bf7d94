#include "collectives/timing/bounced_copies.h"

#include <algorithm>

namespace stepcast::collectives {

using topology::DeviceKind;
using topology::LinkId;
using topology::LinkKind;

namespace {

void note(std::vector<std::uint32_t>& gpus, std::uint32_t gpu) {
  if (std::ranges::find(gpus, gpu) == gpus.end()) gpus.push_back(gpu);
}

}  // namespace

BouncedCopies::NodeLink& BouncedCopies::known(LinkId link) {
  const auto [at, first] = links_.try_emplace(index(link));
  if (first)
    at->second = {cluster_.link_traits(link).kind, cluster_.link_source_kind(link), cluster_.link_target_kind(link),
                  cluster_.link_source(link), cluster_.link_target(link)};
  return at->second;
}

void BouncedCopies::add(const WeightedList& hops, const std::vector<LinkId>& links) {
  const auto is_end = [](DeviceKind kind) { return kind == DeviceKind::gpu || kind == DeviceKind::nic; };
  part_ = {};
  for (const Weighted& hop : hops) {
    NodeLink& link = known(links[hop.what]);
    if (is_end(link.from)) part_ = {.first = &link};
    part_.last = &link;
    if (link.from == DeviceKind::cpu) part_.down.clear();
    part_.over_sockets = part_.over_sockets || link.kind == LinkKind::socket;
    if (link.kind == LinkKind::pcie) (part_.over_cpu ? part_.down : part_.up).push_back(&link);
    part_.over_cpu = part_.over_cpu || link.to == DeviceKind::cpu;
    if (is_end(link.to) && part_.first != nullptr) end(part_);
  }
}

void BouncedCopies::end(const WayPart& part) {
  if (!part.over_cpu) return;
  const bool writes = part.first->from == DeviceKind::gpu, reads = part.last->to == DeviceKind::gpu;
  const bool adapter = !writes || !reads;
  // Behind a PCIe switch an adapter has GPUs near it, by which NCCL's rings leave the node: ours may do so by others.
  const bool off_a_cpu = (writes ? part.last->from : part.first->to) == DeviceKind::cpu;
  const bool direct = cluster_.pcie_p2p() && (!adapter || !off_a_cpu || gdr_ == GdrLevel::sys ||
                                              (gdr_ == GdrLevel::phb && !part.over_sockets));
  if (direct) return;
  const auto reach = [&](const std::vector<NodeLink*>& over, std::uint32_t gpu) {
    for (NodeLink* link : over) {
      note(link->gpus, gpu);
      if (adapter) note(link->staged, gpu);
    }
  };
  if (writes && !part.up.empty()) {
    reach(part.up, part.first->source);
    write_.insert(part.first->source);
  }
  if (reads && !part.down.empty()) {
    reach(part.down, part.last->target);
    read_.insert(part.last->target);
  }
}

bool BouncedCopies::both_ways(LinkId link) const {
  const auto at = links_.find(index(link));
  return at != links_.end() && std::ranges::any_of(at->second.gpus, [&](std::uint32_t gpu) {
           return write_.contains(gpu) && read_.contains(gpu);
         });
}

std::uint32_t BouncedCopies::staged(LinkId link) const {
  const auto at = links_.find(index(link));
  return at == links_.end() ? 0 : static_cast<std::uint32_t>(at->second.staged.size());
}

}  // namespace stepcast::collectives
