#pragma once

namespace stepcast::schedules {

/// Times of collectives multiplied, to see what a step owes to them (calibrate/confidence/terms.h): no key of a file.
struct TrafficScale {
  double layers = 1;  ///< inside a layer: among tensor, context and expert ranks
  double stages = 1;  ///< sends from stage to stage
  double data = 1;    ///< gradients and parameters
};

}  // namespace stepcast::schedules
