#pragma once

#include <cstdint>

#include "sim/units.h"

namespace stepcast::schedules {

/// What the host does for a run of kernels on one GPU. It launches them one after the other, ahead of the GPU, which
/// starts each when it has been launched and the one before it has ended: a queue with one server. However many kernels
/// a run has, three numbers say all of it (max-plus algebra: Baccelli, Cohen, Olsder, Quadrat, Synchronization and
/// Linearity, 1992): if the host comes to the run at H and the GPU at G, and the kernels by themselves take g,
///
///     the host is done at H + time,   the GPU at max(G, H + behind) + g.
struct HostWork {
  Time time{};    ///< of the host, from the run's first launch to where it could launch what follows
  Time behind{};  ///< by how much the GPU is held up where both come to the run at once; never negative
  std::int64_t launches = 0;
};

/// Of two runs one after the other; the kernels of `first` take `kernels` by themselves.
HostWork then(const HostWork& first, Time kernels, const HostWork& second);
/// Of one run `n` times, whose kernels take `kernels` once. Requires n > 0.
HostWork repeated(const HostWork& once, Time kernels, std::int64_t n);

}  // namespace stepcast::schedules
