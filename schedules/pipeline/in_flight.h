#pragma once

#include <algorithm>
#include <cstdint>

#include "schedules/pipeline/pipeline.h"

namespace stepcast::schedules {

/// Counts what a stage holds while it runs its passes: pairs of a micro-batch and a virtual stage that went forward and
/// are not yet through with backward, or where that is split, with the weights' gradients.
class InFlight {
 public:
  explicit InFlight(const Shape& shape) : shape_(shape) {}

  void run(const Pass& pass) {
    if (pass.kind == PassKind::forward)
      most_ = std::max(most_, ++now_);
    else if (is_last(shape_, pass.kind))
      --now_;
  }
  std::uint32_t now() const { return now_; }
  std::uint32_t most() const { return most_; }  ///< at one time

 private:
  Shape shape_;
  std::uint32_t now_ = 0, most_ = 0;
};

/// Of an order that validate() finds nothing wrong with.
inline std::uint32_t most_in_flight(const Shape& shape, const StageOrder& order) {
  InFlight in_flight(shape);
  for (const Pass& pass : order) in_flight.run(pass);
  return in_flight.most();
}

}  // namespace stepcast::schedules
