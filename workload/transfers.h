#pragma once

#include <span>
#include <vector>

#include "sim/executor.h"
#include "workload/communication.h"
#include "workload/lowered.h"
#include "workload/machine.h"
#include "workload/program.h"

namespace stepcast::workload {

/// A program that was run with every communication lowered to its transfers.
struct RunOfTransfers {
  sim::Timeline timeline;    ///< of the program's tasks; its `carried` is empty
  std::vector<double> busy;  ///< by link: of the time, the share in which it worked as fast as its users can
};

/// Runs a program with all communications as their transfers, which meet on the links, every one with what it can
/// carry: of the link's bandwidth the share that collectives reach. Of each communication the groups that ask
/// (Collective::own) send; their siblings must be in the program by themselves. The longest way there is; nothing is
/// assumed of what meets what. `communications`: as the program numbers them. Throws std::logic_error that names the
/// link where one has carried more than it can, or other than what was handed to it. `watch`: none, nobody asks.
RunOfTransfers run_transfers(const Program& program, std::span<const Communication> communications,
                             const Machine& machine, const WatchLowered* watch = nullptr);

}  // namespace stepcast::workload
