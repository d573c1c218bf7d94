#pragma once

#include <cstdint>
#include <optional>

namespace stepcast::schedules {

/// What keeps a cluster from being as good as its data sheets, all of it off by default. With any of it every rank is
/// simulated.
struct Imperfections {
  std::optional<std::uint32_t> slow_gpu{};   ///< its index among the GPUs in use
  double gpu_speed = 1;                      ///< of the slow GPU's kernels, in shares of the others', (0, 1]
  std::optional<std::uint32_t> slow_node{};  ///< its index among the nodes in use
  double network_speed = 1;                  ///< of the slow node's network cards, in shares of the others', (0, 1]
  double jitter = 0;                         ///< standard deviation of a pass's time, in shares of its mean
  std::uint64_t seed = 1;                    ///< of the jitter: the same seed gives the same step, on any machine

  bool any() const { return slow_gpu || slow_node || jitter > 0; }
};

}  // namespace stepcast::schedules
