#include "workload/machine.h"

namespace stepcast::workload {

Machine::Machine(const MachineSpec& spec)
    : cluster_(topology::build_cluster(spec.node, spec.fabric, spec.gpus, spec.allocation)),
      timer_(cluster_, spec.transport, !spec.whole_collectives) {}

}  // namespace stepcast::workload
