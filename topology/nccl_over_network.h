#pragma once

#include "sim/units.h"

namespace stepcast::topology {

/// What a network costs and leaves to the collectives of NCCL, whose proxy threads hand every piece to the adapter.
struct NcclOverNetwork {
  Time simple{}, ll128{}, ll{};  ///< one message by this protocol, on top of the links' latency
  Time messages{};               ///< one message of send_recv, all_to_all, gather or scatter beyond 16 KiB
  double share = 1.0;            ///< of the adapter's payload rate, (0, 1]
  friend bool operator==(const NcclOverNetwork&, const NcclOverNetwork&) = default;
};

}  // namespace stepcast::topology
