#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "schedules/pipeline/pipeline.h"

namespace stepcast::schedules {

/// The part of a pipeline's orders that repeats. In its middle every stage does again and again what it did before, for
/// later micro-batches: 1F1B one forward and one backward for the next micro-batch, an interleaved schedule all chunks'
/// passes for the next group of micro-batches.
struct Period {
  struct OfStage {
    std::size_t first = 0, end = 0;  ///< of the stage's order: the passes that repeat
    std::size_t passes = 0;          ///< of one period
  };
  std::uint32_t micro_batches = 0;  ///< pass i + passes is what pass i is, of a micro-batch so much later
  std::vector<OfStage> stages;

  /// How often it comes at least, in every stage.
  std::uint32_t times() const;
};

/// The shortest one. Nothing where the middle of a stage's order does not repeat, or stages do not repeat alike; nor
/// where stages hold two copies of the model, whose micro-batches are numbered one copy after the other.
std::optional<Period> find_period(const Shape& shape, std::span<const StageOrder> orders);

/// The same of orders in which it comes so often at least.
Period with_times(Period period, std::uint32_t times);

/// The orders with so many periods left out of every stage, and the micro-batches after them numbered on without a gap.
/// Requires period.times() > left_out.
std::vector<StageOrder> without(std::span<const StageOrder> orders, const Period& period, std::uint32_t left_out);

}  // namespace stepcast::schedules
