#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "sim/units.h"

namespace stepcast::search {

/// Layers in a row, to be cut into stages that have meshes of their own.
struct StageProblem {
  std::uint32_t layers = 0;
  std::uint32_t devices = 0;         ///< that all stages have together
  std::vector<std::uint32_t> sizes;  ///< that a stage's mesh can have
  std::int64_t micro_batches = 1;
  std::optional<std::uint32_t> stages{};  ///< how many; none: as many as are best
  /// As `time`, but no more than that, where that takes long to work out: of stages that cannot be among the best
  /// nothing else is asked. What it answers may have come nearer when `time` was asked.
  std::function<std::optional<Time>(std::uint32_t first, std::uint32_t count, std::uint32_t size, std::uint32_t held)>
      bound;
  /// What a stage takes for a micro-batch, forward and backward, that has `count` layers from `first` on and the
  /// `size`th of these meshes, and holds the activations of `held` micro-batches; none: it does not fit.
  std::function<std::optional<Time>(std::uint32_t first, std::uint32_t count, std::uint32_t size, std::uint32_t held)>
      time;
};

/// What a pipeline of such stages takes: the sum of all and the longest once more for every micro-batch but the first
/// (Zheng et al. 2022, "Alpa", arXiv 2201.12023, eq. 2).
Time pipeline_time(std::span<const Time> stages, std::int64_t micro_batches);

/// Of how many micro-batches a stage holds the activations at once, with 1F1B: of as many as there are stages from it
/// to the last one, itself counted (`stages_left`), but of no more than there are. Of 4 stages the first holds 4, the
/// last 1. It decides what fits: it is the s of eq. 3 (the same, sec. 5.2).
std::uint32_t micro_batches_held(std::uint32_t stages_left, std::int64_t micro_batches);

struct CutStage {
  std::uint32_t first = 0, count = 0;  ///< layers
  std::uint32_t size = 0;              ///< a place in StageProblem::sizes
  std::uint32_t held = 0;              ///< micro-batches
  Time time{};
};

struct CutStages {
  std::vector<CutStage> stages;
  Time time{};  ///< of a step
};

/// The stages whose pipeline takes the least time. Of several such the one with the fewest stages in front. None:
/// nothing fits.
///
/// Alpa's dynamic program over layers, stages and devices (the same, eq. 4): of stages that are no longer than some
/// longest one, the least sum. Which longest ones are tried is found by halves.
std::optional<CutStages> best_stages(const StageProblem& problem);

}  // namespace stepcast::search
