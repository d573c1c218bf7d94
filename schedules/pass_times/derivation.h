#pragma once

#include <span>
#include <vector>

#include "schedules/pass_times/chunks.h"
#include "schedules/pass_times/layer_traffic.h"
#include "schedules/results/step_detail.h"

namespace stepcast::schedules {

/// Where a forecast's pass times come from, kernel by kernel. Nothing is timed anew: the lines are what each kernel has
/// added to the pass of its block when that was timed.
class Derivation {
 public:
  /// `pieces`: of the first rank, by Blocks::kinds, with their shares. All must outlive it.
  Derivation(const Scenario& scenario, const collectives::Timer& timer, const Ranks& ranks, const Blocks& blocks,
             const std::vector<PieceTimes::TimedPiece>& pieces, bool fold);

  std::vector<DerivedBlock> blocks() const;
  /// `chunks`: by stage.
  std::vector<DerivedStage> stages(std::span<const std::vector<BlockRange>> chunks, std::uint32_t micro_batches) const;
  /// Collectives inside layers, each kind once, with how often one runs in a step on all stages together.
  void add_traffic(std::vector<KindOfTraffic>& traffic, std::uint32_t micro_batches) const;

 private:
  struct PassOf {
    std::string_view name;
    const Kernels* kernels;
    const std::vector<KernelShare>* shares;
  };
  std::vector<PassOf> passes(std::size_t kind) const;
  PassLines lines(const PassOf& pass, const KernelCost& cost) const;
  collectives::Timing timing(const TensorCollective& op) const { return *traffic_.time(op, timer_, fold_); }

  const Scenario& scenario_;
  const collectives::Timer& timer_;
  const Ranks& ranks_;
  const Blocks& blocks_;
  const std::vector<PieceTimes::TimedPiece>& pieces_;
  LayerTraffic traffic_;
  std::vector<SplitBackward> split_;  ///< by kind, where gradients of weights have a pass of their own
  bool fold_;
};

}  // namespace stepcast::schedules
