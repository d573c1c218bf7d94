#pragma once

#include "calibrate/measure/host/step_case.h"
#include "calibrate/measure/step/peers.h"
#include "calibrate/measure/suites/communicators.h"

namespace stepcast::measure {

/// NCCL between the ranks of a training step: communicators split from that of all GPUs. Every rank makes its own, in a
/// thread of its own, at the same time. Requires NCCL 2.18, for ncclCommSplit.
class NcclPeers : public Peers {
 public:
  NcclPeers(const StepCase& step, const Communicators& all, std::size_t local);
  ~NcclPeers() override;
  NcclPeers(const NcclPeers&) = delete;
  NcclPeers& operator=(const NcclPeers&) = delete;

  void all_reduce(RankGroup group, void* data, std::int64_t elements, Number number, cudaStream_t stream) override;
  void all_gather(float* data, std::int64_t elements, cudaStream_t stream) override;
  void exchange(const std::vector<Message>& messages, cudaStream_t stream) override;

 private:
  ncclComm_t of(RankGroup group) const;
  ncclComm_t tensor_ = nullptr, data_ = nullptr, pipeline_ = nullptr, tied_ = nullptr;
  int tensor_rank_ = 0;
};

}  // namespace stepcast::measure
