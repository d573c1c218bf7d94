#pragma once

#include <cstdint>

#include "models/cost/pass.h"
#include "scenario/imperfections.h"
#include "schedules/parallel/ranks.h"

namespace stepcast::schedules {

/// How much longer a GPU's kernels take than they should. Jitter is log-normal with mean 1, drawn anew for each pass
/// of each GPU from a hash of seed, GPU and pass, so it depends on nothing else.
class Stragglers {
 public:
  /// `step`: of a round; each has draws of its own.
  Stragglers(const Imperfections& imperfections, const Ranks& ranks, std::uint32_t step = 0)
      : imperfections_(imperfections), ranks_(ranks), step_(step) {}

  /// A pass on the rank at `c`, its `number`th task. Tensor ranks wait for the slowest of them: they meet in
  /// collectives many times in a pass, and what one waits is `exposed_tensor`.
  PassTime slowed(Coordinate c, std::uint64_t number, const PassTime& alone) const;
  /// Of work that no tensor collective is part of.
  Time slowed(Coordinate c, std::uint64_t number, Time alone) const;

 private:
  double factor(topology::GpuId gpu, std::uint64_t number) const;

  const Imperfections& imperfections_;
  const Ranks& ranks_;
  std::uint32_t step_;
};

}  // namespace stepcast::schedules
