#pragma once

#include <cstdint>
#include <optional>

#include "sim/units.h"

namespace stepcast::schedules {

/// What the host does for a run of kernels on one GPU. It launches them one after the other, ahead of the GPU, which
/// starts each when it has been launched and the one before it has ended: a queue with one server. However many kernels
/// a run has, three numbers say all of it (max-plus algebra: Baccelli, Cohen, Olsder, Quadrat, Synchronization and
/// Linearity, 1992): if the host comes to the run at H and the GPU at G, and the kernels by themselves take g,
///
///     the host is done at H + time,   the GPU at max(G, H + behind) + g.
///
/// Where the host waits in the run until the GPU has done what was launched, both go on at once from there, wherever
/// they came from: the GPU is done when it was, the host `ahead` of it. What then holds the GPU up is part of g.
struct HostWork {
  Time time{};    ///< of the host, from the run's first launch to where it could launch what follows, without waiting
  Time behind{};  ///< by how much the GPU is held up where both come to the run at once; never negative
  std::int64_t launches = 0;    ///< since the host waited last
  std::optional<Time> ahead{};  ///< if it waits; negative: it is the later one
};

/// Of two runs one after the other, whose kernels take `kernels_of_first` and `kernels_of_second`.
HostWork then(const HostWork& first, Time kernels_of_first, const HostWork& second, Time kernels_of_second);
/// By how much the second of them is held up wherever host and GPU came to the first: nothing, unless the host waits in
/// that one. The GPU takes so much longer for both.
Time held_up(const HostWork& first, const HostWork& second);
/// Of one run `n` times, whose kernels take `kernels` once. Requires n > 0.
HostWork repeated(const HostWork& once, Time kernels, std::int64_t n);

}  // namespace stepcast::schedules
