#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calibrate/fit/curve.h"

namespace stepcast::language {

/// The tables of an nccl-tests log, which was read from `file`, as curves of one machine, medians of out of place and
/// in place. `operation` is for logs that do not say theirs; without `gpus_per_process` the log's own word counts, and
/// 1 where it has none. Throws InputError with file:line: for tables of other
/// ranks than the machine's GPUs, for a size that comes twice in a table, and for a log that says no operation where
/// none is given.
std::vector<calibrate::Curve> parse_log_curves(const std::string& log, const std::string& file,
                                               const topology::Cluster& cluster,
                                               std::optional<std::uint32_t> gpus_per_process,
                                               std::optional<collectives::Operation> operation);

}  // namespace stepcast::language
