#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "collectives/timing/timer.h"
#include "models/cost/kernel.h"
#include "models/layers/kernels.h"

namespace stepcast::schedules {

/// Time of a run of kernels on one tensor rank, and what it is made of: duration = compute + exposed_tensor +
/// exposed_copy.
struct PassTime {
  Time duration{}, compute{}, exposed_tensor{};
  Time exposed_copy{};  ///< of copies to and from the host that nothing hides
  Time launches{};      ///< what the host needs to launch its kernels
  Time idle{};          ///< of compute: the GPU has nothing to do until the host has launched the next kernel

  friend PassTime operator+(PassTime a, const PassTime& b) {
    return {a.duration + b.duration,         a.compute + b.compute,   a.exposed_tensor + b.exposed_tensor,
            a.exposed_copy + b.exposed_copy, a.launches + b.launches, a.idle + b.idle};
  }
  friend PassTime operator-(PassTime a, const PassTime& b) {
    return {a.duration - b.duration,         a.compute - b.compute,   a.exposed_tensor - b.exposed_tensor,
            a.exposed_copy - b.exposed_copy, a.launches - b.launches, a.idle - b.idle};
  }
  friend PassTime operator*(PassTime a, std::int64_t n) {
    return {a.duration * n, a.compute * n, a.exposed_tensor * n, a.exposed_copy * n, a.launches * n, a.idle * n};
  }
};

/// A part of a pass, for whoever simulates the traffic in it: kernels one after the other, and then a collective so
/// many times; or both at once.
struct PassPart {
  Time kernels{};
  std::optional<TensorCollective> traffic{};
  int times = 1;
  bool at_once = false;
  Time alone{};  ///< of the collective once, if it meets nothing
};
using PassParts = std::vector<PassPart>;

/// Two passes of one rank that run together, each one's tensor traffic under the other's kernels where there is enough
/// of them: kernels one after the other, traffic one after the other, whichever takes longer; or the host's launches of
/// both, where these take longer still.
PassTime together(const PassTime& a, const PassTime& b);

using TensorTimer = std::function<collectives::Timing(const TensorCollective&)>;

/// Kernels one after the other; a tensor collective marked `under_next` runs beside the next kernel, each slowing the
/// other by `overlap_slowdown`. The host bounds it from below: it cannot launch faster than host_per_kernel. `traffic`,
/// if given, receives each collective's loads, `parts` what the pass is made of.
PassTime pass_time(const Kernels& kernels, const KernelCost& cost, const TensorTimer& tensor,
                   std::vector<collectives::Timing::Load>* traffic = nullptr, PassParts* parts = nullptr);

}  // namespace stepcast::schedules
