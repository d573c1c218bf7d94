#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "schedules/pipeline/pipeline.h"

namespace stepcast::schedules {

/// What was found in the joint order of all stages.
struct Validation {
  /// Empty: the order runs to its end. Otherwise each says which stage, pass and micro-batch, numbered from 0 as in the
  /// order; after kMostProblems of them, one line with how many more.
  std::vector<std::string> problems;
  /// Per stage: the most (micro-batch, virtual stage) pairs that were forwarded and not yet through with backward
  /// (where it is split: with the weights' gradients) at one time. It depends on the stage's own order only, not on
  /// timing.
  std::vector<std::uint32_t> most_in_flight;

  static constexpr std::size_t kMostProblems = 20;
};

/// Checks that every stage runs each micro-batch that visits it forward once and backward once through each of its
/// virtual stages, backward after forward, the weights' gradients after that where the shape splits them, that passes
/// which run together are a forward and another visit's backward, that no stage holds more than `limit` (micro-batch,
/// virtual stage) pairs, and that the stages never wait for each other in a circle: forward of model chunk c waits for
/// forward of chunk c-1, backward of c for backward of c+1 (the last: for its own forward), where placement.h says who
/// holds which. The circle is looked for only in orders that are otherwise right. Requires shape_problem(shape) == "".
/// O(passes).
Validation validate(Shape shape, std::span<const StageOrder> orders, std::optional<std::uint32_t> limit = {});

}  // namespace stepcast::schedules
