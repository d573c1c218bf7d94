#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "collectives/timing/timer.h"
#include "topology/host_path.h"

namespace stepcast::workload {

/// Copies between GPUs and the memory of their node, over PCIe and all at the same moment.
struct HostCopy {
  topology::ToHost direction{};
  Bytes bytes{};            ///< of each GPU
  collectives::Group gpus;  ///< the first `own` ask; the others copy at the same moment, on links they may share
  std::uint32_t own = 1;
  std::optional<Time> latency{};                               ///< none: that of the links
  Bandwidth at_most{std::numeric_limits<double>::infinity()};  ///< for each GPU, whatever its links could carry
};

/// The ways between GPUs of a cluster and their hosts, each looked for once: nodes are alike.
class HostWays {
 public:
  explicit HostWays(const topology::Cluster& cluster) : cluster_(cluster) {}

  /// Throws InputError where PCIe leads from the GPU to no CPU.
  topology::Path way(topology::GpuId gpu, topology::ToHost direction);

 private:
  struct KnownPath {
    topology::Path path;
    std::uint32_t first_link = 0;  ///< of the node that it was found in
  };
  const topology::Cluster& cluster_;
  std::map<std::pair<std::uint32_t, topology::ToHost>, KnownPath> known_;  ///< by place in the node
};

/// What the slowest of copies takes that run at once and meet nothing else.
struct CopiesAtOnce {
  Time latency{};
  double seconds_a_byte = 0;
  double spread = 0;                           ///< the part of these by which the fastest takes less
  std::map<topology::LinkId, double> sharers;  ///< how many cross each link
};
CopiesAtOnce at_once(const HostCopy& copy, const topology::Cluster& cluster, HostWays& ways);

/// Who copies beside whom.
struct Siblings {
  bool unfolded = false;  ///< only what those load counts that ask: the others are there by themselves
  bool together = true;   ///< all run at the same moment whatever else happens
};

/// Copies without other traffic: the slowest of the GPUs, and what they load. Unfolded ones that do not run together,
/// or of which not all take the same time, have the links to themselves, and meet the others there.
collectives::Timing timing_of(const HostCopy& copy, const topology::Cluster& cluster, HostWays& ways, Siblings beside);

}  // namespace stepcast::workload
