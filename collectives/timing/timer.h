#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/operation.h"
#include "collectives/timing/question.h"
#include "collectives/timing/timing.h"
#include "collectives/timing/transfers.h"
#include "collectives/transport.h"
#include "topology/cluster.h"

namespace stepcast::collectives {

/// Times collectives on one cluster and remembers them. Deterministic; safe to share between threads.
class Timer {
 public:
  /// `folds_where_exact`: what is asked for without `fold` is folded all the same where that changes nothing, or where
  /// the groups are large.
  Timer(topology::Cluster cluster, Transport transport, bool folds_where_exact = false);
  ~Timer();

  /// Each of `concurrent` runs `operation` on `bytes` at the same moment (data-parallel groups of all the tensor ranks
  /// of a node, say), in whatever order they are given; groups are of one size. `algorithm` is a name from algorithms.h
  /// or "auto": the fastest that applies; or "library": what the stack's library does by itself, which is "auto" or
  /// "nccl" (Transport::as_nccl_picks); or "nccl": what NCCL's own model picks (nccl/tuner.h,
  /// Transport::nccl_version). Of the protocols the transport has, the fastest predicted; "ring/LL", "auto/Simple":
  /// that one. With `fold`, ranks that do the same at the same time are simulated once, where the placement has that
  /// symmetry and the answer is the same to the picosecond; of many ranks also where it is about the same
  /// (Timing::exact). One rank, or no bytes over one rank: zero. Throws InputError
  /// for an unknown algorithm or one that cannot do it, and for details that do not fit. The answer stays as long as
  /// the timer does.
  const Timing& time(Operation operation, Bytes bytes, std::span<const Group> concurrent,
                     std::string_view algorithm = "auto", bool fold = true, const Details& details = {}) const;

  /// No more than the duration that time() tells, folded: by what the links that it crosses need for its bytes, and the
  /// latency. Nothing is simulated that depends on the size.
  Time least(Operation operation, Bytes bytes, std::span<const Group> concurrent, std::string_view algorithm = "auto",
             const Details& details = {}) const;

  /// What the stack's library picks for the communicator of `group` by a model of its own, whatever runs beside it, as
  /// "ring/LL". Nothing where it has no such model: "library" is then what is fastest beside the others.
  std::optional<std::string> picked_for(Operation operation, Bytes bytes, const Group& group) const;

  /// How the collective that time() tells of runs, transfer by transfer: that of the group which comes at this place of
  /// `concurrent`. One rank: none.
  Transfers transfers(Operation operation, Bytes bytes, std::span<const Group> concurrent, std::uint32_t group,
                      std::string_view algorithm = "auto", const Details& details = {}) const;

  const topology::Cluster& cluster() const;

  /// About how many bytes of memory what is remembered takes.
  std::size_t remembered_bytes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stepcast::collectives
