#pragma once

#include <optional>

#include "sim/units.h"

namespace stepcast::schedules {

/// Copies between one GPU and pinned memory of its host as a calibration measured them, with nothing else on the link.
/// What it does not tell is the topology's.
struct HostLink {
  struct Copy {
    std::optional<Time> latency{};
    std::optional<Bandwidth> bandwidth{};
  };
  Copy to_gpu{}, to_host{};
  Copy both{};          ///< both ways at once; the rate is that of each
  double slowdown = 0;  ///< compute takes 1 + this while a copy runs beside it
};

}  // namespace stepcast::schedules
