#pragma once

#include <string>
#include <vector>

#include "sim/units.h"

namespace stepcast::topology {

/// What the plugin through which NCCL uses a network (its libnccl-net) sets or tells NCCL.
struct NcclPlugin {
  Time latency{};                         ///< of a message, as NCCL's own model is told it
  std::vector<std::string> algorithms{};  ///< it leaves these of NCCL's alone, as collectives/forced.h; empty: all
  std::vector<std::string> without{};     ///< it takes these of NCCL's away
  std::vector<std::string> protocols{};   ///< likewise; words that arrive out of order are no good for LL and LL128
  bool own_tuner = false;                 ///< it picks by measured tables, not by NCCL's model
  friend bool operator==(const NcclPlugin&, const NcclPlugin&) = default;
};

/// What a network costs and leaves to the collectives of NCCL, whose proxy threads hand every piece to the adapter.
struct NcclOverNetwork {
  Time simple{}, ll128{}, ll{};  ///< one message by this protocol, on top of the links' latency
  Time messages{};               ///< one message of send_recv, all_to_all, gather or scatter beyond 16 KiB
  double share = 1.0;            ///< of the adapter's payload rate, (0, 1]
  double ll_share = 1.0;         ///< what LL gets of its own share of that, (0, 1]: it goes through host memory
  NcclPlugin plugin{};
  friend bool operator==(const NcclOverNetwork&, const NcclOverNetwork&) = default;
};

}  // namespace stepcast::topology
