#pragma once

#include "scenario/gpu.h"
#include "scenario/software.h"

namespace stepcast::schedules {

/// The update of `parameters` parameters on a GPU: a kernel that streams their state, at the share of the streaming
/// rate that a calibration measured for it. Alone: nothing else runs beside it. An optimizer with other moments than
/// the software's own reads and writes so many more or less.
Time optimizer_time(const Gpu& gpu, const Software& software, Optimizer optimizer, double parameters);

}  // namespace stepcast::schedules
