#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "calibrate/logs/nccl_tests.h"
#include "collectives/operation.h"

namespace stepcast::app {

/// The operation that a log of nccl-tests is compared as where nobody says it.
struct LoggedOperation {
  collectives::Operation operation{};
  std::string note;  ///< which it is and what tells it
};

/// Whether a table's redop is one that nccl-tests prints for the operation: a sum's of all_reduce, reduce and
/// reduce_scatter, "none" of the others; sendrecv_perf prints either, by its release (src/sendrecv.cu).
bool has_redop_of(const calibrate::NcclTestsTable& table, collectives::Operation operation);

/// Whether nccl-tests prints such a table for the operation, as far as its columns tell. redop: has_redop_of. root: -1
/// but of broadcast, reduce, gather and scatter. busbw over algbw: collectives::bus_factor.
bool prints_so(const calibrate::NcclTestsTable& table, collectives::Operation operation, std::uint32_t ranks);

/// The operation whose program the log names; in a log that names none that one of all whose tables look so; all_reduce
/// where it is among several that do. Throws InputError with the candidates where neither tells it. `shown`: what
/// messages call the log.
LoggedOperation logged_operation(std::span<const calibrate::NcclTestsTable> tables, std::uint32_t ranks,
                                 const std::string& shown);

}  // namespace stepcast::app
