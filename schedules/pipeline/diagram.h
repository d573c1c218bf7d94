#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "schedules/pipeline/pipeline.h"

namespace stepcast::schedules {

/// How many columns a pass takes.
struct Slots {
  std::uint32_t forward = 1, backward = 1, weight = 1;
};

/// The orders as text, one line per stage and one column per slot of time, as the papers draw them: F3 is forward of
/// micro-batch 3, B3 backward, W3 its gradients of weights, F3b its virtual stage b (a is 0), & runs together with the
/// next, -- goes on, . waits.
/// Above, a line with the total and the bubble; at each line's end, the most micro-batches (times virtual stages) in
/// flight. Requires validate(shape, orders).problems to be empty, and at most 26 virtual stages.
std::string draw(Shape shape, std::span<const StageOrder> orders, Slots slots);

}  // namespace stepcast::schedules
