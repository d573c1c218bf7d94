#pragma once

#include <nccl.h>

#include <functional>
#include <string>
#include <vector>

#include "calibrate/measure/device/handles.h"
#include "calibrate/measure/host/rank_team.h"
#include "calibrate/measure/suites/process_group.h"

namespace stepcast::measure {

/// Throws std::runtime_error naming the call and what NCCL says, if `code` is not success.
void check_nccl(ncclResult_t code, const char* call);

/// One communicator over some GPUs of every node: rank = node x GPUs + place in the list.
class Communicators {
 public:
  Communicators(const std::vector<int>& gpus, const ProcessGroup& cluster);
  ~Communicators();
  Communicators(const Communicators&) = delete;
  Communicators& operator=(const Communicators&) = delete;

  int ranks() const { return ranks_; }
  int rank(std::size_t local) const { return first_ + static_cast<int>(local); }
  std::size_t here() const { return gpus_.size(); }  ///< ranks of this node
  ncclComm_t comm(std::size_t local) const { return comms_[local]; }
  cudaStream_t stream(std::size_t local) const { return streams_[local]; }

  /// Runs a function once per GPU of this node, each in a thread of its own with that GPU current, near that GPU. Where
  /// one throws, the others' waits in the team end, every rank's communicator is aborted by its own thread, so that
  /// kernels which wait for another rank end too, and CaseFailed names the rank, `what`, and why. These communicators
  /// are broken then. `more_s`: how much longer than kCasePatience it may take.
  void together(const std::string& what, const std::function<void(std::size_t, RankTeam&)>& function,
                double more_s = 0);
  /// Waits until all that was put on a rank's stream is done. Throws CaseFailed, and what NCCL says went wrong.
  void wait(std::size_t local, RankTeam& team) const;
  bool broken() const { return broken_; }

  /// The same for what no other rank waits for.
  void on_every_gpu(const std::function<void(std::size_t)>& function) const;

 private:
  std::vector<int> gpus_;
  int ranks_ = 0, first_ = 0;
  bool broken_ = false;
  std::vector<ncclComm_t> comms_;
  std::vector<Stream> streams_;
};

}  // namespace stepcast::measure
