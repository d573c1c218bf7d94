#pragma once

#include "collectives/transport.h"

namespace stepcast::calibrate {

/// Where a fit begins that shall depend on nothing but its curves: the channels, chunk and protocols of `like` with the
/// times of NCCL's own cost model (collectives/nccl/constants.h, its newest release). What that model lacks is assumed.
collectives::Transport neutral_start(const collectives::Transport& like);

}  // namespace stepcast::calibrate
