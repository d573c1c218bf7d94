#include "calibrate/measure/suites/nccl_peers.h"

#include <stdexcept>

namespace stepcast::measure {

NcclPeers::NcclPeers(const StepCase& step, const Communicators& all, std::size_t local) {
  const StepRank at = step_rank(step, all.rank(local));
  tensor_rank_ = at.tensor;
  // Ranks of one color are one communicator, in the order of their keys. All ranks make the same calls.
  const auto split = [&](int color, int key, ncclComm_t& to) {
    check_nccl(ncclCommSplit(all.comm(local), color, key, &to, nullptr), "ncclCommSplit");
  };
  if (step.tensor > 1) split(at.data + step.data * at.stage, at.tensor, tensor_);
  if (step.data > 1) split(at.tensor + step.tensor * at.stage, at.data, data_);
  if (step.pipeline > 1) {
    const int pipeline = at.tensor + step.tensor * at.data;
    const bool end = at.stage == 0 || at.stage + 1 == step.pipeline;
    split(pipeline, at.stage, pipeline_);
    split(end ? pipeline : NCCL_SPLIT_NOCOLOR, at.stage, tied_);
  }
}

NcclPeers::~NcclPeers() {
  for (const ncclComm_t comm : {tensor_, data_, pipeline_, tied_}) {
    if (comm != nullptr) ncclCommDestroy(comm);
  }
}

ncclComm_t NcclPeers::of(RankGroup group) const {
  switch (group) {
    case RankGroup::tensor:
      return tensor_;
    case RankGroup::data:
      return data_;
    case RankGroup::tied:
      return tied_;
  }
  throw std::logic_error("no such group");
}

void NcclPeers::all_reduce(RankGroup group, void* data, std::int64_t elements, Number number, cudaStream_t stream) {
  const ncclDataType_t type = number == Number::fp32 ? ncclFloat32 : ncclBfloat16;
  check_nccl(ncclAllReduce(data, data, static_cast<std::size_t>(elements), type, ncclSum, of(group), stream),
             "ncclAllReduce");
}

void NcclPeers::all_gather(float* data, std::int64_t elements, cudaStream_t stream) {
  check_nccl(ncclAllGather(data + tensor_rank_ * elements, data, static_cast<std::size_t>(elements), ncclFloat32,
                           tensor_, stream),
             "ncclAllGather");
}

void NcclPeers::exchange(const std::vector<Message>& messages, cudaStream_t stream) {
  check_nccl(ncclGroupStart(), "ncclGroupStart");
  for (const Message& m : messages) {
    const auto elements = static_cast<std::size_t>(m.elements);
    if (m.send) {
      check_nccl(ncclSend(m.data, elements, ncclBfloat16, m.stage, pipeline_, stream), "ncclSend");
    } else {
      check_nccl(ncclRecv(m.data, elements, ncclBfloat16, m.stage, pipeline_, stream), "ncclRecv");
    }
  }
  check_nccl(ncclGroupEnd(), "ncclGroupEnd");
}

}  // namespace stepcast::measure
