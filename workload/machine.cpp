#include "workload/machine.h"

#include "workload/link_capacity.h"

namespace stepcast::workload {

Machine::Machine(const MachineSpec& spec)
    : cluster_(topology::build_cluster(spec.node, spec.fabric, spec.gpus, spec.allocation, spec.slow_node)),
      timer_(cluster_, spec.transport, !spec.whole_collectives) {}

const std::vector<Bandwidth>& Machine::link_capacities() const {
  std::call_once(capacities_known_, [this] {
    capacities_.reserve(cluster_.links());
    for (std::uint32_t link = 0; link < cluster_.links(); ++link)
      capacities_.push_back(whole_link_capacity(cluster_, topology::LinkId{link}));
  });
  return capacities_;
}

}  // namespace stepcast::workload
