#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <vector>

#include "calibrate/measure/kernels/element.h"
#include "calibrate/measure/kernels/gemm.h"

namespace stepcast::measure {

/// The ranks that a rank sums with: those that differ from it in this coordinate alone; `tied`: the first and the last
/// stage, which both hold the embedding's matrix.
enum class RankGroup { tensor, data, tied };

/// An activation or its gradient, to or from another stage of this rank's pipeline.
struct Message {
  bool send = false;
  int stage = 0;
  bf16* data = nullptr;
  std::int64_t elements = 0;
};

/// What one rank of a training step says to the others: NCCL between GPUs, threads in tests. Every rank of a group
/// calls the same in the same order.
class Peers {
 public:
  virtual ~Peers() = default;
  /// In place: the sum over the group. `number`: fp32 or bf16.
  virtual void all_reduce(RankGroup group, void* data, std::int64_t elements, Number number, cudaStream_t stream) = 0;
  /// In place: tensor rank r gives data[r elements ...], all get all of it.
  virtual void all_gather(float* data, std::int64_t elements, cudaStream_t stream) = 0;
  /// All of the messages at once: none waits for another.
  virtual void exchange(const std::vector<Message>& messages, cudaStream_t stream) = 0;
};

/// Nobody: nothing is summed, gathered, sent or received.
class NoPeers : public Peers {
 public:
  void all_reduce(RankGroup, void*, std::int64_t, Number, cudaStream_t) override {}
  void all_gather(float*, std::int64_t, cudaStream_t) override {}
  void exchange(const std::vector<Message>&, cudaStream_t) override {}
};

}  // namespace stepcast::measure
