#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/layers/blocks.h"
#include "scenario/scenario.h"
#include "schedules/pipeline/planned.h"
#include "schedules/results/results.h"

namespace stepcast::schedules {

/// What one micro-batch keeps of a model chunk on one GPU, in bytes.
struct ChunkActivations {
  double saved = 0;           ///< from its forward to its backward pass, as far as it may be offloaded
  double saved_by_loss = 0;   ///< likewise of head and loss, which are not
  double most_of_block = 0;   ///< of what is saved, that of the block that keeps most
  double for_weights = 0;     ///< from there to its weights' gradients, where these have a pass of their own
  double backward = 0;        ///< the most that its backward pass takes beyond what is kept when it begins
  double split_backward = 0;  ///< the same of one that leaves the weights' gradients to a pass of their own
  friend bool operator==(const ChunkActivations&, const ChunkActivations&) = default;
};

/// What the activations of a stage take on one GPU.
struct ActivationSizes {
  std::vector<ChunkActivations> chunks;  ///< by virtual stage
  std::optional<Bytes> stays;            ///< of what is offloaded; none: nothing is
  double offloaded = 1;                  ///< the share of what is saved that is offloaded

  /// Of saved bytes, those that are offloaded.
  Bytes leaving(Bytes kept) const;
  friend bool operator==(const ActivationSizes&, const ActivationSizes&) = default;
};
ActivationSizes activation_sizes(const Scenario& scenario, const Blocks& blocks, std::span<const BlockRange> chunks);

/// The activations of a stage as its passes come and go.
class HeldActivations {
 public:
  HeldActivations(const Shape& shape, const ActivationSizes& sizes) : shape_(shape), sizes_(sizes) {}

  void begin(PassKind kind, std::uint32_t virtual_stage);
  void end(PassKind kind, std::uint32_t virtual_stage);
  /// A forward and a backward pass that run together, layer by layer.
  void begin_together(std::uint32_t forward, const Pass& backward);
  void end_together(std::uint32_t forward, const Pass& backward);

  double saved() const { return saved_; }                 ///< what may be offloaded of it, all of it counted
  double besides() const { return besides_ + at_work_; }  ///< what may not
  /// On the GPU: both, but for what is offloaded.
  Bytes bytes() const;

 private:
  const Shape& shape_;
  const ActivationSizes& sizes_;
  double saved_ = 0, besides_ = 0, at_work_ = 0;
  double ahead_ = 0;  ///< of what is saved, what a forward has more than the backward with it has let go of
};

/// One GPU's memory at its stage's peak. `chunks`: the stage's, one per virtual stage; `order`: its passes;
/// `weight_versions`: how many versions of its parameters it keeps; `communicators`: what its communicators take.
MemoryUse stage_memory(const Scenario& scenario, const Blocks& blocks, std::span<const BlockRange> chunks,
                       const Shape& shape, const StageOrder& order, std::uint32_t weight_versions = 1,
                       Bytes communicators = {});

/// The activations of a stage where they take most.
struct PeakActivations {
  Bytes on_gpu{};
  double most_saved = 0;  ///< bytes between forward and backward, offloaded or not
};

/// Those of the stages of one pipeline, each worked out once: plans with other data-parallel states keep the same.
class SavedPeaks {
 public:
  /// `order`: the passes of `stage`.
  PeakActivations of(std::uint32_t stage, const ActivationSizes& sizes, const Shape& shape, const StageOrder& order);

 private:
  struct Peak {
    ActivationSizes sizes;
    PeakActivations most;
  };
  std::vector<std::vector<Peak>> known_;  ///< by stage
};

/// The same of every stage of a pipeline. `peaks`: what is known of it; none: nothing is.
std::vector<MemoryUse> stage_memories(const Scenario& scenario, const Blocks& blocks,
                                      std::span<const std::vector<BlockRange>> chunks, const PlannedPipeline& pipeline,
                                      SavedPeaks* peaks = nullptr);

/// Bytes of optimizer state per trained parameter, the fp32 master copy of half-precision training included.
double optimizer_bytes(const Scenario& scenario);

}  // namespace stepcast::schedules
