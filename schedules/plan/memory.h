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

/// What the activations of a stage take on one GPU.
struct ActivationSizes {
  std::vector<double> saved;   ///< bytes of one micro-batch from its forward to its last pass, by virtual stage
  double working = 0;          ///< bytes besides while a pass runs: of the block that takes most
  std::optional<Bytes> stays;  ///< of what is offloaded; none: nothing is
  double offloaded = 1;        ///< the share of what is saved that is offloaded

  /// With so many bytes saved: while a pass runs, and between two.
  Bytes at_work(double kept) const;
  Bytes at_rest(double kept) const;
  /// Of saved bytes, those that are offloaded.
  Bytes leaving(Bytes kept) const;
};
ActivationSizes activation_sizes(const Scenario& scenario, const Blocks& blocks, std::span<const BlockRange> chunks);

/// One GPU's memory at its stage's peak. `chunks`: the stage's, one per virtual stage; `order`: its passes;
/// `weight_versions`: how many versions of its parameters it keeps.
MemoryUse stage_memory(const Scenario& scenario, const Blocks& blocks, std::span<const BlockRange> chunks,
                       const Shape& shape, const StageOrder& order, std::uint32_t weight_versions = 1);

/// The most bytes that the stages of one pipeline keep between forward and backward at one time, each worked out once:
/// plans with other data-parallel states keep the same.
class SavedPeaks {
 public:
  /// `saved`: as ActivationSizes has it; `order`: the passes of `stage`.
  double of(std::uint32_t stage, const std::vector<double>& saved, const Shape& shape, const StageOrder& order);

 private:
  struct Peak {
    std::vector<double> saved;
    double most = 0;
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
