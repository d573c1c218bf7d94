#pragma once

#include <cstdint>
#include <optional>

#include "scenario/exchange.h"
#include "scenario/precision.h"
#include "sim/units.h"

namespace stepcast::schedules {

/// Through whom gradients are summed over the data ranks.
enum class DataParallelMode : std::uint8_t { all_reduce, parameter_server, sharded_parameter_server };

struct DataParallelPlan {
  DataParallelMode mode = DataParallelMode::all_reduce;
  int zero = 0;                                 ///< 0 replicated, 1 optimizer state, 2 + gradients, 3 + parameters
  std::optional<std::uint32_t> shard_group{};   ///< ZeRO: data ranks that share one copy between them; none: all
  std::optional<bool> overlap;                  ///< none: the software's own
  std::optional<bool> sum_once;                 ///< ZeRO 2 and 3: gradients, once a step; none: the software's own
  std::optional<Bytes> bucket;                  ///< none: the software's own
  std::optional<Precision> gradient_precision;  ///< on the wire; none: the software's own
  Consistency consistency = Consistency::bulk_synchronous;  ///< of servers; with all_reduce all wait for all
  std::optional<std::uint32_t> staleness{};                 ///< bounded: steps that one may be ahead of the slowest
  /// Steps that each data rank makes by itself before parameters are averaged (McMahan et al., AISTATS 2017, arXiv
  /// 1602.05629; Stich, "Local SGD", ICLR 2019, arXiv 1805.09767); 1: gradients are summed every step.
  std::uint32_t local_steps = 1;
  Compression compression{};
};

}  // namespace stepcast::schedules
