#pragma once

#include <optional>
#include <vector>

#include "models/cost/pass.h"
#include "models/layers/blocks.h"
#include "scenario/scenario.h"
#include "topology/cluster.h"
#include "workload/host_copy.h"

namespace stepcast::schedules {

/// Copies between the GPUs of a node and its host memory or drives. All GPUs of the node copy at the same time, so a
/// PCIe link that several share carries the bytes of all of them; the node's drives likewise. Where a calibration
/// measured copies, a GPU's own are no faster than that, and begin as late; with overlap those measured both ways at
/// once.
class HostCopies {
 public:
  /// Throws InputError where PCIe leads from no GPU to a CPU.
  HostCopies(const Scenario& scenario, const topology::Cluster& cluster);

  Time to_host(double bytes, Tier tier) const;
  Time from_host(double bytes, Tier tier) const;
  Time time(const HostTraffic& traffic) const;

  /// The same as a communication, of the first of `gpus` beside the others. How the links are shared is left to who
  /// runs it; the node's drives are shared evenly.
  workload::HostCopy copy(const HostTraffic& traffic, collectives::Group gpus) const;

  std::uint32_t gpus() const { return gpus_; }  ///< of the node, that copy at the same time

 private:
  struct HostWay {
    Time latency{};
    double seconds_a_byte = 0;
    HostLink::Copy measured{};
  };
  static HostWay way(const topology::Cluster& cluster, topology::ToHost direction, const HostLink::Copy& measured);
  Time time(const HostWay& way, double bytes, Tier tier) const;

  HostWay out_, back_;
  std::uint32_t gpus_;
  double drive_seconds_a_byte_ = 0;
};

/// What comes before the parts of a pass and after them where copies run beside it.
struct CopyParts {
  std::optional<PassPart> before, after;
};

/// A block's passes with the copies beside them. With overlap a pass takes the longest of compute and the copies each
/// way: while one block computes, the next one's data come and the last one's leave; compute is slower meanwhile, as
/// measured. What copies add is `exposed_copy`.
PassTime forward_with_copies(const Scenario& scenario, const Block& block, const PassTime& alone,
                             const HostCopies& copies, CopyParts* parts = nullptr);
PassTime backward_with_copies(const Scenario& scenario, const Block& block, const PassTime& alone,
                              const HostCopies& copies, CopyParts* parts = nullptr);

/// The update of `parameters` parameters by the node's CPUs, those of all its GPUs together: their state is read from
/// and written to the drives if it is there, and the new values go to the GPU; with overlap part by part, so that the
/// longest of the three counts.
Time update_on_host(const Scenario& scenario, double parameters, const HostCopies& copies);
/// What that is made of.
PassParts parts_of_update_on_host(const Scenario& scenario, double parameters, const HostCopies& copies);

}  // namespace stepcast::schedules
