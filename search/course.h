#pragma once

#include <cstdint>
#include <vector>

#include "scenario/scenario.h"
#include "schedules/pipeline/pipeline.h"
#include "schedules/pipeline/placement.h"
#include "search/inner_loads.h"

namespace stepcast::search {

/// What the passes of a virtual stage take for one micro-batch.
struct ChunkTimes {
  Time forward{}, backward{}, weight{};  ///< backward without `weight`, where that is a pass of its own
  Time host{};                           ///< to launch all of them
  Time kernels{};                        ///< of all of them, what surely is kernels
};

/// What a bound knows of a plan's compute and of traffic inside layers, before it looks at sends between stages and at
/// sums and gathers among data ranks.
struct Passes {
  const schedules::Scenario& s;
  schedules::Shape shape;
  std::vector<std::vector<ChunkTimes>> chunks;  ///< by stage and virtual stage
  std::vector<Time> update;                     ///< of the weights, by stage
  bool stand_alone = false;                     ///< groups that share a link need not begin at the same moment
  /// [stage][kind of block]: how often a step runs it, forward and back together. Empty with GPUs of two kinds, which
  /// have times and traffic of their own; so is `loads`.
  std::vector<std::vector<double>> runs{};
  std::vector<const InnerLoads*> loads{};  ///< by stage: what traffic inside the layers loads links with

  /// Whether a stage sends on, forward or back, what each micro-batch has made of a chunk.
  bool sends(schedules::ChunkPlace from, bool forward) const;
};

/// A lower bound of a step: how the passes of a plan follow each other at best. A stage's step is at least what comes
/// in front of its first pass, all of its passes, and what comes behind the last. With two stages and no traffic, say,
/// the second begins after one forward pass of the first, and the first goes on after the last backward pass of the
/// second. Whoever knows of traffic adds it by the functions below, in any order, and asks for least() then.
class Course {
 public:
  /// `passes` must outlive it.
  Course(const Passes& passes, schedules::Updates updates);

  /// What a tensor takes from a stage to the next one, and to the one before.
  void send(std::uint32_t stage, Time down, Time up);
  /// What of one kind keeps a stage from running passes, all of them together. Unlike kinds may run at once.
  void between(std::uint32_t stage, Time time);
  /// What follows a stage's last pass, its update included.
  void behind(std::uint32_t stage, Time time);
  /// What the stage's step takes at least besides: traffic of one stream, one after the other, and its update.
  void beside(std::uint32_t stage, Time time);

  /// The end of the step.
  Time least() const;

  /// Passes of a stage in a step.
  Time busy(std::uint32_t stage, bool with_weights = true) const;

  /// Micro-batches that visit a virtual stage.
  std::int64_t visits(std::uint32_t stage, std::uint32_t v) const;

  /// Before a stage's first pass.
  Time head(std::uint32_t stage) const;

 private:
  Time sent(schedules::ChunkPlace from, bool forward) const;
  const ChunkTimes& times(schedules::ChunkPlace at) const { return p_.chunks[at.stage][at.virtual_stage]; }
  /// By copy of the model and chunk: what comes before its first forward pass; and from the end of its last backward
  /// pass on the way back of the last micro-batch, and what follows it on each stage that it comes through.
  void go_along() const;
  std::size_t number(std::uint32_t stage, std::uint32_t v) const;
  Time head_of(std::uint32_t stage, std::uint32_t v) const;
  Time tail(std::uint32_t stage) const;
  Time end_of(std::uint32_t stage) const;

  struct Sent {
    Time down{}, up{};
  };
  const Passes& p_;
  const bool drains_;
  std::vector<Sent> sent_;
  std::vector<Time> between_, behind_, beside_;
  mutable std::vector<Time> heads_, tails_;  ///< empty: to be worked out anew
};

}  // namespace stepcast::search
