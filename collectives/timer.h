#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/operation.h"
#include "collectives/transport.h"
#include "topology/cluster.h"

namespace stepcast::collectives {

/// The GPUs of one communicator, in rank order.
using Group = std::vector<topology::GpuId>;

/// What a collective costs when nothing but its siblings runs beside it.
struct Timing {
  Time duration{};  ///< launch to last byte
  Time latency{};   ///< what it would take with next to no bytes, same algorithm
  /// Per repetition, if the same is launched again and again: what nccl-tests prints. Less than the duration where data
  /// only passes through the ranks (broadcast, reduce): the first is at work on the next while the last still waits.
  Time interval{};
  std::string algorithm;  ///< the one timed or chosen
  std::string protocol;   ///< "Simple", "LL128" or "LL"
  struct Load {
    topology::LinkId link{};
    double bytes = 0;  ///< that cross the link, all concurrent groups together
  };
  std::vector<Load> loads;
};

/// Times collectives on one cluster and remembers them. Deterministic; safe to share between threads.
class Timer {
 public:
  Timer(topology::Cluster cluster, Transport transport);
  ~Timer();

  /// Each of `concurrent` runs `operation` on `bytes` at the same moment (data-parallel groups of all the tensor ranks
  /// of a node, say); groups are of one size. `algorithm` is a name from algorithms.h or "auto": the fastest that
  /// applies; or "nccl": what NCCL's own model picks (nccl/tuner.h, Transport::nccl_version). Of the protocols the
  /// transport has, the fastest predicted; "ring/LL", "auto/Simple": that one. With `fold`, ranks that do the same at
  /// the same time are simulated once, where the placement has that symmetry; the answer is the same to the picosecond.
  /// One rank, or no bytes over one rank: zero. Throws InputError for an unknown algorithm or one that cannot do it.
  Timing time(Operation operation, Bytes bytes, std::span<const Group> concurrent, std::string_view algorithm = "auto",
              bool fold = true);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stepcast::collectives
